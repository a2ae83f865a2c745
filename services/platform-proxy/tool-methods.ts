import type { DescMessage, DescMethod } from "@bufbuild/protobuf";
import { ConnectError } from "@connectrpc/connect";
import { WriteFailure_Outcome as Outcome } from "#proto/mcp/v1/write_failure_pb.js";
import type { Call } from "../shared/rpc/call.js";
import { canceled, internal } from "../shared/rpc/errors.js";
import type { Method } from "../shared/rpc/method.js";
import { isWriteTool, withOutcome } from "../shared/rpc/write-outcome.js";
import type { Adapter } from "./adapter.js";
import type { Binding } from "./binding.js";
import { type Context, openSession, takeSlot } from "./context.js";
import { fits } from "./fits.js";
import { isOfReading, misshapen, unreadable } from "./lib/answers.js";
import { withNotSearched } from "./lib/not-searched.js";
import { passingOf } from "./lib/outcome.js";
import { openPlatform, type Platform } from "./platform.js";

/** The tools of every platform, each answered through its binding. */
export function toolMethods(context: Context): Method[] {
  return context.platforms.flatMap(({ adapter, bindings }) =>
    bindings.map((binding) => toolMethod(context, adapter, binding)),
  );
}

/** Answers an rpc through its binding, as the calling user on the platform. */
function toolMethod(context: Context, adapter: Adapter, binding: Binding): Method {
  const desc = binding.method;
  const { server } = adapter;
  const handle = binding.handle as (request: unknown, platform: Platform) => unknown;
  const open = async (call: Call) =>
    openPlatform(adapter, await openSession(context, server, desc.name, call), context.identities);
  if (desc.methodKind === "unary") {
    return {
      desc,
      async handle(request: unknown, call: Call) {
        const slot = takeSlot(context, server, call);
        let platform: Platform | undefined;
        try {
          platform = await open(call);
          const result = await handle(request, platform);
          return checked(server, desc.output, withNotSearched(desc.input, request, result));
        } catch (error) {
          throw told(desc, platform, server, error);
        } finally {
          slot.free(0);
        }
      },
    };
  }
  return {
    desc,
    handle: async function* (request: unknown, call: Call) {
      const slot = takeSlot(context, server, call);
      let platform: Platform | undefined;
      try {
        platform = await open(call);
        for await (const one of handle(request, platform) as AsyncIterable<unknown>) {
          yield checked(server, desc.output, one);
        }
      } catch (error) {
        throw told(desc, platform, server, error);
      } finally {
        slot.free(0);
      }
    },
  };
}

function checked(server: string, output: DescMessage, result: unknown): unknown {
  if (!fits(output, result)) throw misshapen(server, "values of other types than its API has");
  return result;
}

/** Longest sentence that is passed on: some repeat a platform's own words. */
const MAX_SENTENCE = 2_000;

/** What a caller is told of a failure: its sentence, and of a write what became of it. */
function told(desc: DescMethod, platform: Platform | undefined, server: string, error: unknown): ConnectError {
  const said = saidOf(platform, server, error);
  if (!isWriteTool(desc)) return within(said, said.rawMessage);
  // What to do next follows from the outcome: only if nothing was changed it is what a read is told.
  const { said: words, advice } = passingOf(said) ?? { said: said.rawMessage, advice: "" };
  const outcome = platform?.outcomeOf(said) ?? Outcome.UNCHANGED;
  return withOutcome(within(said, words), outcome, advice === "" ? undefined : advice);
}

/**
 * The failure in words for the caller. A binding reads answers as the platform's
 * API shapes them: if it fails to read one, the answer had another shape. Before
 * there is an answer, and for any other error, the fault is ours.
 */
function saidOf(platform: Platform | undefined, server: string, error: unknown): ConnectError {
  if (error instanceof ConnectError) return error;
  if (platform?.signal.aborted === true) return canceled("the call was cancelled", error);
  if (platform?.hasAnswered !== true || !isOfReading(error)) {
    return internal("the tool failed; the service's log says more", error);
  }
  return unreadable(server, error);
}

/** The error with these words, cut to {@link MAX_SENTENCE}. */
function within(error: ConnectError, words: string): ConnectError {
  if (words.length <= MAX_SENTENCE && words === error.rawMessage) return error;
  const cut = words.length <= MAX_SENTENCE ? words : `${words.slice(0, MAX_SENTENCE)}…`;
  const said = new ConnectError(cut, error.code, error.metadata, undefined, error.cause);
  said.details = error.details;
  return said;
}
