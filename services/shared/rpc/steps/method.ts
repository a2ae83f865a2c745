import type { Call, Caller, Credential, Incoming } from "../call.js";

/** What a method is told. The signal is asked for only where the method asks: it is the dearest part of a call. */
export class MethodCall implements Call {
  constructor(
    private readonly incoming: Incoming,
    readonly caller: Caller,
    readonly assertion: string,
  ) {}

  get credential(): Credential {
    return this.incoming.credential;
  }

  get signal(): AbortSignal {
    return this.incoming.signal;
  }

  get deadline(): number | undefined {
    return this.incoming.deadline;
  }

  get traceparent(): string | undefined {
    return this.incoming.traceparent;
  }
}
