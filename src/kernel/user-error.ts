/** A mistake the person can fix: what is wrong, and what to do next. */
export class UserError extends Error {
  constructor(
    message: string,
    readonly hint: string,
    readonly code = 2,
  ) {
    super(message);
  }
}
