import { type DescMessage, type DescMethod, isMessage, type Message, type MessageInitShape } from "@bufbuild/protobuf";
import { ConnectError } from "@connectrpc/connect";
import type { Credential, Incoming } from "./call.js";
import { type Chain, chain, type Run } from "./chain.js";
import type { Dispatch, Outgoing } from "./dispatch.js";
import { deadlineExceeded, unimplemented } from "./errors.js";
import { messageFrom } from "./message-from.js";
import type { Method } from "./method.js";
import { LONGEST_TIMER_MS } from "./steps/deadline.js";

/** Mounts methods in this process: a call is a function call, through the same steps as over a socket. */
export function mountInProcess(methods: readonly Method[], steps: Chain): Dispatch {
  const runs = new Map<string, Run>(methods.map((m) => [keyOf(m.desc), chain(m, steps)]));
  /** The same by descriptor: a name that is put together for each call takes 0.4 µs. */
  const asked = new WeakMap<DescMethod, Run>();

  function runOf(method: DescMethod): Run {
    const found = runs.get(keyOf(method));
    if (found === undefined) throw unimplemented(`this process does not serve ${keyOf(method)}`);
    asked.set(method, found);
    return found;
  }

  function run(method: DescMethod, request: unknown, out: Outgoing): unknown {
    return (asked.get(method) ?? runOf(method))(request, new Arrived(out));
  }

  return {
    async unary(method, request, out) {
      try {
        const reply = run(method, messageOf(method.input, request), out);
        return messageOf(method.output, (await reply) as MessageInitShape<typeof method.output>);
      } catch (error) {
        throw errorOf(error, out);
      }
    },
    async *stream(method, request, out) {
      try {
        const replies = run(method, messageOf(method.input, request), out) as AsyncIterable<
          MessageInitShape<DescMessage>
        >;
        for await (const reply of replies) yield messageOf(method.output, reply as never);
      } catch (error) {
        throw errorOf(error, out);
      }
    },
    async *duplex(method, requests, out) {
      const messages = (async function* () {
        for await (const request of requests) yield messageOf(method.input, request);
      })();
      try {
        const replies = run(method, messages, out) as AsyncIterable<MessageInitShape<DescMessage>>;
        for await (const reply of replies) yield messageOf(method.output, reply as never);
      } catch (error) {
        throw errorOf(error, out);
      }
    },
  };
}

/** The name by which an rpc is found, also where two images describe it. */
export function keyOf(method: DescMethod): string {
  return `${method.parent.typeName}/${method.name}`;
}

/** What went out, as it comes in. The signal is made when it is first asked for: few methods do. */
class Arrived implements Incoming {
  private made: AbortSignal | undefined;

  constructor(private readonly out: Outgoing) {}

  get credential(): Credential {
    return this.out.credential;
  }

  get signal(): AbortSignal {
    this.made ??= signalOf(this.out);
    return this.made;
  }

  get deadline(): number | undefined {
    return this.out.deadline;
  }

  get traceparent(): string | undefined {
    return this.out.traceparent;
  }
}

function signalOf({ signal, deadline, signalsDeadline }: Outgoing): AbortSignal {
  if (deadline === undefined || signalsDeadline === true) return signal ?? NEVER;
  const left = Math.min(deadline - Date.now(), LONGEST_TIMER_MS);
  const late = left > 0 ? AbortSignal.timeout(left) : AbortSignal.abort(deadlineExceeded("the deadline passed"));
  return signal === undefined ? late : AbortSignal.any([signal, late]);
}

const NEVER = new AbortController().signal;

function messageOf<M extends DescMessage>(desc: M, value: MessageInitShape<M>): never {
  return (isMessage(value) ? value : messageFrom(desc, value)) as Message as never;
}

function errorOf(error: unknown, { deadline }: Outgoing): ConnectError {
  if (error instanceof ConnectError) return error;
  if (deadline !== undefined && deadline <= Date.now()) return deadlineExceeded("the deadline passed", error);
  return ConnectError.from(error);
}
