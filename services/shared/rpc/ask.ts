/** A deadline that is noticed so much later than it was passed while the event loop was busy, in milliseconds. */
const LATE_MS = 50;

/**
 * Asks a question with a deadline. If the deadline passed while the event loop of this
 * process was busy, the other side may have answered in time: then it is asked again, once.
 * Only for questions that change nothing.
 */
export async function askWithin<T>(ms: number, ask: (deadline: number) => Promise<T>): Promise<T> {
  const begun = performance.now();
  try {
    return await ask(Date.now() + ms);
  } catch (error) {
    if (performance.now() - begun < ms + LATE_MS) throw error;
    return ask(Date.now() + ms);
  }
}
