/** For work that may fail without consequence: its value, or the fallback. Where the reason matters, write the `catch`. */
export function attempt<T, F>(work: () => T, fallback: F): T | F {
  try {
    return work();
  } catch {
    return fallback;
  }
}
