/** The numbers by which Linux says why a call failed, as the rest of the program knows them. */

export const ENOENT = 2;
export const EINTR = 4;
export const ENAMETOOLONG = 36;
/** Made when something fails, which is seldom. */
const errors = (): Record<number, [code: string, words: string]> => ({
  1: ["EPERM", "operation not permitted"],
  [ENOENT]: ["ENOENT", "no such file or directory"],
  [EINTR]: ["EINTR", "interrupted system call"],
  5: ["EIO", "i/o error"],
  6: ["ENXIO", "no such device or address"],
  9: ["EBADF", "bad file descriptor"],
  11: ["EAGAIN", "resource temporarily unavailable"],
  12: ["ENOMEM", "not enough memory"],
  13: ["EACCES", "permission denied"],
  16: ["EBUSY", "resource busy or locked"],
  17: ["EEXIST", "file already exists"],
  18: ["EXDEV", "cross-device link not permitted"],
  20: ["ENOTDIR", "not a directory"],
  21: ["EISDIR", "illegal operation on a directory"],
  22: ["EINVAL", "invalid argument"],
  23: ["ENFILE", "file table overflow"],
  24: ["EMFILE", "too many open files"],
  26: ["ETXTBSY", "text file is busy"],
  27: ["EFBIG", "file too large"],
  28: ["ENOSPC", "no space left on device"],
  30: ["EROFS", "read-only file system"],
  31: ["EMLINK", "too many links"],
  32: ["EPIPE", "broken pipe"],
  [ENAMETOOLONG]: ["ENAMETOOLONG", "name too long"],
  38: ["ENOSYS", "function not implemented"],
  39: ["ENOTEMPTY", "directory not empty"],
  40: ["ELOOP", "too many symbolic links encountered"],
  95: ["ENOTSUP", "operation not supported on socket"],
  116: ["ESTALE", "stale file handle"],
  122: ["EDQUOT", "disk quota exceeded"],
});

/** As node:fs would throw it. */
export function failure(errno: number, call: string, ...paths: string[]): Error {
  const [code, words] = errors()[errno] ?? [`E${errno}`, `error ${errno}`];
  const about = paths.map((path) => `'${path}'`).join(" -> ");
  return Object.assign(new Error(`${code}: ${words}, ${call}${about && ` ${about}`}`), { code });
}
