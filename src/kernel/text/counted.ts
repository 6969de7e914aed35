/** "1 test", "2 tests". */
export const counted = (count: number, what: string) => `${count} ${what}${count === 1 ? "" : "s"}`;
