import type { DescMethod } from "@bufbuild/protobuf";
import type { Authenticated, Caller } from "../call.js";

/** The scope of rpcs that are open to everybody, whom nobody asks who they are. */
export const PUBLIC = "public";

/** Who calls an rpc that is open to everybody. */
export const NOBODY: Caller = {
  id: "",
  email: "",
  name: "",
  admin: false,
  groups: [],
  scopes: new Set([PUBLIC]),
  keyId: "",
  service: false,
};

/** Goes on with a call once it is known who calls; a failure on the way is told to `refused` and thrown. */
export function whenKnown(
  desc: DescMethod,
  who: Promise<Authenticated>,
  go: (caller: Caller, assertion: string) => unknown,
  refused: (error: unknown) => void,
): unknown {
  const enter = async (): Promise<{ readonly result: unknown }> => {
    try {
      const { caller, assertion } = await who;
      return { result: go(caller, assertion) };
    } catch (error) {
      refused(error);
      throw error;
    }
  };
  if (desc.methodKind === "unary") return enter().then(({ result }) => result);
  return (async function* () {
    yield* (await enter()).result as AsyncIterable<unknown>;
  })();
}
