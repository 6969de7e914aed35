/** Something the person can fix before trying again; nothing was changed, or everything was restored. */
export class InstallError extends Error {
  override name = "InstallError";
  constructor(
    message: string,
    readonly hint: string,
  ) {
    super(message);
  }
}
