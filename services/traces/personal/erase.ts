import type { MessageInitShape, MessageShape } from "@bufbuild/protobuf";
import { PersonalFate as Fate } from "#proto/auth/v1/personal_data_pb.js";
import type {
  ErasePersonalDataRequestSchema,
  ErasePersonalDataResponseSchema,
} from "#proto/traces/v1/personal_data_service_pb.js";
import { checkGone, findPerson } from "../../shared/personal/gone.js";
import type { Call } from "../../shared/rpc/call.js";
import type { Context } from "../context.js";
import { forgetUsage } from "../quota.js";
import { idsOf } from "../span-list.js";
import type { TraceStore } from "../store.js";

/** Traces that are read in one go. */
const AT_ONCE = 100;

/** Deletes the traces of a person who can no longer sign in, with all that their spans say. */
export async function erasePersonalData(
  { store, peers }: Context,
  { userId: user, dryRun }: MessageShape<typeof ErasePersonalDataRequestSchema>,
  call: Call,
): Promise<MessageInitShape<typeof ErasePersonalDataResponseSchema>> {
  checkGone(await findPerson(peers, user, call));
  const traces = await store.traces.countDocuments({ user }, { hint: "user" });
  const counts = traces === 0 ? [] : [{ kind: "trace", count: BigInt(traces), fate: Fate.DELETED }];
  if (dryRun) return { counts };
  for (;;) {
    const options = { limit: AT_ONCE, hint: "user", projection: { span_count: 1 } };
    const some = await store.traces.find({ user }, options).toArray();
    for (const { _id, span_count } of some) {
      await eraseSpans(store, _id);
      // A trace that has grown, as by a run that ends late, stays: its new spans are erased in the next round.
      await store.traces.deleteOne({ _id, span_count });
    }
    if (some.length === 0) break;
  }
  await forgetUsage(store, user);
  return { counts };
}

/** What is found by something else goes before it. */
async function eraseSpans({ spans, payloads, pages, segments, lists }: TraceStore, trace: string): Promise<void> {
  for (const kept of [pages, payloads, spans, segments, lists])
    await (kept as TraceStore["spans"]).deleteMany({ _id: idsOf(trace) });
}
