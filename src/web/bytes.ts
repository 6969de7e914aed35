/** Parts of files, opened for each look: a page that is open for days holds none of them. */
import { close, FLAGS, read } from "../native/disk.ts";
import { openRegular } from "../store/files.ts";

/** Empty where it cannot be read: the file may be gone by now. */
export function bytesBetween(path: string, from: number, to: number): Buffer {
  let fd: number | null = null;
  try {
    fd = openRegular(path, FLAGS.O_RDONLY);
    const bytes = Buffer.alloc(Math.max(0, to - from));
    return bytes.subarray(0, read(fd, bytes, 0, bytes.length, from));
  } catch {
    return Buffer.alloc(0);
  } finally {
    if (fd !== null) close(fd);
  }
}
