/** How long the other process may take to answer, in milliseconds. */
const ANSWER_MS = 3_000;

/** The other end: a process that was forked, or the one that forked this. */
export interface Peer {
  readonly send?: ((message: object, done: () => void) => unknown) | undefined;
  on(event: "message", hear: (said: unknown) => void): unknown;
}

/** Asks the other process. */
export interface Channel {
  /** @param withinMs Infinity for a question that may take any time. @throws Error where it does not answer in time. */
  ask(what: string, withinMs?: number): Promise<unknown>;
}

type Message =
  | { readonly asked: string; readonly id: number }
  | { readonly answered: number; readonly answer: unknown }
  | { readonly answered: number; readonly failed: true };

/**
 * Questions between a process and one that it forked, both ways, beside the messages that they send otherwise.
 *
 * @param answers to what the other asks, by the name of the question.
 */
export function openChannel(peer: Peer, answers: Readonly<Record<string, () => Promise<unknown>>>): Channel {
  const waiting = new Map<number, (message: Message) => void>();
  let last = 0;
  // The other may end at any time: who waits for it hears so by the clock.
  const send = (message: Message): void => void peer.send?.(message, () => undefined);

  peer.on("message", (said: unknown) => {
    const message = said as Message;
    if (typeof message !== "object" || message === null) return;
    if ("asked" in message) {
      const { id } = message;
      const answering = answers[message.asked]?.() ?? Promise.reject(new Error("unknown"));
      answering.then(
        (answer) => send({ answered: id, answer }),
        () => send({ answered: id, failed: true }),
      );
    } else if ("answered" in message) waiting.get(message.answered)?.(message);
  });

  return {
    ask(what, withinMs = ANSWER_MS) {
      const id = ++last;
      return new Promise((resolve, reject) => {
        const refuse = (): void => reject(new Error(`the other process did not answer: ${what}`));
        const late = Number.isFinite(withinMs)
          ? setTimeout(() => {
              waiting.delete(id);
              refuse();
            }, withinMs)
          : undefined;
        waiting.set(id, (message) => {
          clearTimeout(late);
          waiting.delete(id);
          if ("answer" in message) resolve(message.answer);
          else refuse();
        });
        send({ asked: what, id });
      });
    },
  };
}
