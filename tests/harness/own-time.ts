/** Milliseconds of this process's own time: the machine may be busy with others. For work that must not explode, not for speed. */
export function ownTime(work: () => void): number {
  const before = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}
