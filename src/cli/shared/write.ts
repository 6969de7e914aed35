import { write } from "../../native/disk.ts";
import { errorCode } from "../../store/files.ts";

/** In full, also into a pipe that is set to non-blocking. false: the reader has closed it (`pawl log | head`). */
export function writeText(fd: 1 | 2, text: string, until = Number.POSITIVE_INFINITY): boolean {
  const bytes = new TextEncoder().encode(text);
  for (let at = 0; at < bytes.length; ) {
    try {
      at += write(fd, bytes, at, bytes.length - at);
    } catch (error) {
      const code = errorCode(error);
      if (code === "EPIPE") return false;
      if (code !== "EAGAIN" || Date.now() > until) throw error;
      Bun.sleepSync(1);
    }
  }
  return true;
}
