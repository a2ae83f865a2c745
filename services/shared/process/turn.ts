/** Lets other work of the event loop run. */
export function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
