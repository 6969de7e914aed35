/** Every call of the disk, in a folder of its own, good and bad: prints what came of each. Run with libc, and without. */
import * as fs from "node:fs";
import { join } from "node:path";
import * as disk from "../../src/native/disk.ts";

const { O_CREAT, O_EXCL, O_NOFOLLOW, O_RDONLY, O_RDWR, O_APPEND, O_NONBLOCK, O_WRONLY, O_DIRECTORY } = disk.FLAGS;
const [folder = ""] = process.argv.slice(2);
const at = (name: string) => join(folder, name);
const bytes = new TextEncoder().encode("0123456789 日本語");

fs.writeFileSync(at("file"), "0123456789", { mode: 0o640 });
fs.mkdirSync(at("dir/inner"), { recursive: true });
for (let n = 0; n < 600; n++) fs.writeFileSync(at(`dir/${"名".repeat(n % 40)}${n}`), "");
fs.symlinkSync("file", at("link"));
fs.symlinkSync("nowhere", at("dangling"));
fs.symlinkSync("loop", at("loop"));
fs.utimesSync(at("file"), 1_700_000_000, 1_700_000_000.25);

const look = (found: disk.FileStat | undefined) =>
  found && {
    ...{ size: found.isFile() ? found.size : 0, mode: found.mode, mtime: found.isFile() ? found.mtimeMs : 0 },
    ...{ file: found.isFile(), folder: found.isDirectory(), link: found.isSymbolicLink() },
  };

function opened<T>(name: string, flags: number, work: (fd: number) => T, mode?: number): T {
  const fd = disk.open(at(name), flags, mode);
  try {
    return work(fd);
  } finally {
    disk.close(fd);
  }
}

function reading(fd: number): unknown[] {
  const into = new Uint8Array(20);
  const got = [disk.read(fd, into, 3, 4, null), disk.read(fd, into, 7, 13, null), disk.read(fd, into, 0, 3, null)];
  return [
    ...got,
    disk.read(fd, into, 0, 2, 8),
    disk.read(fd, into, 0, 5, 100),
    disk.read(fd, into, 0, 0, 0),
    [...into],
  ];
}

const calls: [string, () => unknown][] = [
  ["look at a file", () => look(disk.lstat(at("file")))],
  ["its inode", () => disk.lstat(at("file"))?.ino === fs.lstatSync(at("file")).ino],
  ["its owner", () => disk.lstat(at("file"))?.uid === fs.lstatSync(at("file")).uid],
  ["its times", () => disk.lstat(at("file"))?.ctimeMs === fs.lstatSync(at("file")).ctimeMs],
  ["look at a folder", () => look(disk.lstat(at("dir")))],
  ["look at a link", () => look(disk.lstat(at("link")))],
  ["through a link", () => look(disk.stat(at("link")))],
  ["through a dangling one", () => disk.stat(at("dangling"))],
  ["look at nothing", () => disk.lstat(at("none"))],
  ["look below a file", () => disk.lstat(at("file/x"))],
  ["look at a long name", () => disk.lstat(at("n".repeat(300)))],
  ["look at a long path", () => disk.lstat(at("n/".repeat(3000)))],
  ["look at a NUL", () => disk.lstat(at("a\0b"))],
  ["real path", () => disk.realpath(at("dir/../link")) === fs.realpathSync(at("file"))],
  ["no real path", () => disk.realpath(at("none/x"))],
  ["a circle", () => disk.realpath(at("loop"))],
  ["read a link", () => disk.readlink(at("dangling"))],
  ["read no link", () => disk.readlink(at("file"))],
  ["names", () => disk.readNames(at("dir")).sort().join() === fs.readdirSync(at("dir")).sort().join()],
  ["how many", () => disk.readNames(at("dir")).length],
  ["names in nothing", () => disk.readNames(at("none"))],
  ["names in a file", () => disk.readNames(at("file"))],
  ["read", () => opened("file", O_RDONLY, reading)],
  ["look at an open one", () => opened("file", O_RDONLY, (fd) => look(disk.fstat(fd)))],
  ["open nothing", () => opened("none", O_RDONLY, () => 0)],
  ["open a link", () => opened("link", O_RDONLY | O_NOFOLLOW, () => 0)],
  ["open a file as a folder", () => opened("file", O_RDONLY | O_DIRECTORY, () => 0)],
  ["open a folder to write", () => opened("dir", O_WRONLY, () => 0)],
  ["make", () => opened("new", O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, (fd) => disk.write(fd, bytes, 2, 15), 0o600)],
  ["its content", () => fs.readFileSync(at("new"), "utf8")],
  ["its rights", () => disk.lstat(at("new"))?.mode],
  ["make again", () => opened("new", O_WRONLY | O_CREAT | O_EXCL, () => 0)],
  ["append", () => opened("new", O_RDWR | O_APPEND | O_NONBLOCK, (fd) => disk.write(fd, bytes, 0, 1))],
  ["write nothing", () => opened("new", O_RDWR, (fd) => disk.write(fd, bytes, 0, 0))],
  ["sync", () => opened("new", O_RDWR, (fd) => disk.fsync(fd))],
  ["sync a pipe's end", () => disk.fsync(1)],
  ["write what may only be read", () => opened("new", O_RDONLY, (fd) => disk.write(fd, bytes, 0, 1))],
  ["read what may only be written", () => opened("new", O_WRONLY, reading)],
  ["close what is not open", () => disk.close(777)],
  ["link", () => disk.link(at("new"), at("second"))],
  ["the same inode", () => disk.lstat(at("new"))?.ino === disk.lstat(at("second"))?.ino],
  ["link again", () => disk.link(at("new"), at("second"))],
  ["rename", () => disk.rename(at("second"), at("third"))],
  ["rename nothing", () => disk.rename(at("second"), at("third"))],
  ["rename over a folder", () => disk.rename(at("third"), at("dir"))],
  ["unlink", () => disk.unlink(at("third"))],
  ["unlink again", () => disk.unlink(at("third"))],
  ["mkdir", () => disk.mkdir(at("made"), 0o700)],
  ["its rights", () => disk.lstat(at("made"))?.mode],
  ["mkdir again", () => disk.mkdir(at("made"), 0o700)],
  ["mkdir below nothing", () => disk.mkdir(at("none/x"), 0o700)],
  ["rmdir", () => disk.rmdir(at("made"))],
  ["rmdir of a full one", () => disk.rmdir(at("dir"))],
];

for (const [name, call] of calls) {
  try {
    console.log(name, JSON.stringify(call()) ?? "-");
  } catch (error) {
    const { code, message } = error as { code?: string; message: string };
    console.log(name, code, message.includes(String(code)));
  }
}
