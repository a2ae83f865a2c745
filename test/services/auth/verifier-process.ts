import { createAssertionVerifier } from "../../../services/shared/credentials/assertions.js";
import { createCredentials } from "../../../services/shared/credentials/credentials.js";
import { silentLog } from "../../../services/shared/process/log.js";
import { connectRemote } from "../../../services/shared/rpc/remote.js";

// A process that verifies assertions as a service does: it presents the one it was given over and over, and
// remembers when the last accepted one began. Given an API key too, it presents what auth mints for that.

/** What the process is told. */
export interface Order {
  readonly assertion?: string;
  readonly apiKey?: string;
}

/** What the process has seen. Moments are nanoseconds of the machine's monotonic clock. */
export interface Report {
  readonly leased: boolean;
  readonly accepted: number;
  readonly lastAcceptedBegan: string;
  /** "" while none was refused. */
  readonly refusal: string;
  readonly killed: boolean;
  /** Of the API key. */
  readonly served: number;
  readonly failures: readonly string[];
}

const [address, serviceKey] = process.argv.slice(2) as [string, string];
const dispatch = connectRemote({ auth: address });
const credential = { authorization: `Bearer ${serviceKey}` };
const credentials = createCredentials({ dispatch, credential, log: silentLog });
const verifier = createAssertionVerifier({ service: "traces", credentials, dispatch, credential });

let order: Order = {};
let accepted = 0;
let lastAcceptedBegan = 0n;
let refusal = "";
let killed = false;
let served = 0;
let failures: string[] = [];

const pause = () => new Promise((resolve) => setTimeout(resolve, 1));

async function present(): Promise<void> {
  for (;;) {
    await pause();
    const { assertion } = order;
    if (assertion === undefined) continue;
    const began = process.hrtime.bigint();
    try {
      const { caller } = await verifier.authenticate({ assertion });
      if (accepted++ === 0) credentials.holdCaller(caller, () => (killed = true));
      lastAcceptedBegan = began;
    } catch (error) {
      refusal = (error as Error).message;
    }
  }
}

async function serve(): Promise<void> {
  for (;;) {
    await pause();
    const { apiKey } = order;
    if (apiKey === undefined) continue;
    try {
      const known = credentials.peek(apiKey) ?? (await credentials.verify(apiKey));
      if ("refused" in known) throw new Error(known.refused);
      await verifier.authenticate({ assertion: known.assertions.traces as string });
      served++;
    } catch (error) {
      failures.push((error as Error).message);
    }
  }
}

void present();
void serve();

process.on("message", (next: Order | null) => {
  if (next !== null) {
    order = next;
    accepted = served = 0;
    refusal = "";
    killed = false;
    failures = [];
  }
  const report: Report = {
    leased: credentials.leased(),
    accepted,
    lastAcceptedBegan: String(lastAcceptedBegan),
    refusal,
    killed,
    served,
    failures,
  };
  process.send?.(report);
});
process.on("disconnect", () => process.exit());
