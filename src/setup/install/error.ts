/** Something the person can mend before trying again; nothing was changed, or everything was put back. */
export class InstallError extends Error {
  override name = "InstallError";
  constructor(
    message: string,
    readonly hint: string,
  ) {
    super(message);
  }
}
