/** Local time, as people read it in headings and folder names. */
const two = (value: number) => String(value).padStart(2, "0");

const dayOf = (at: Date) => `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())}`;

export const localStamp = (at: Date) => `${dayOf(at)} ${two(at.getHours())}:${two(at.getMinutes())}`;

/** Of an archive folder: YYYY-MM-DD-HH-MM. */
export const folderStamp = (at: Date) => `${dayOf(at)}-${two(at.getHours())}-${two(at.getMinutes())}`;
