import type { MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { type SigningKeySchema, SigningKeyState } from "#proto/auth/v1/key_ring_service_pb.js";
import { invalidArgument } from "../shared/rpc/errors.js";
import type { Context } from "./context.js";
import type { KeyRing, ListedKey } from "./key-ring.js";

/** Every ring. */
export function ringsOf({ accessRing, assertionRing, platformRing }: Context): readonly KeyRing[] {
  return [accessRing, assertionRing, platformRing];
}

/** @throws ConnectError invalid_argument for a name that no ring has. */
export function ringOf(context: Context, name: string): KeyRing {
  const rings = ringsOf(context);
  const ring = rings.find((one) => one.name === name);
  if (ring === undefined) throw invalidArgument(`ring must be one of ${rings.map((one) => one.name).join(", ")}`);
  return ring;
}

const STATES = {
  published: SigningKeyState.PUBLISHED,
  signing: SigningKeyState.SIGNING,
  retiring: SigningKeyState.RETIRING,
} as const;

/** A key as administrators see it; nothing of its halves. */
export function signingKeyOf(key: ListedKey): MessageInitShape<typeof SigningKeySchema> {
  return {
    ring: key.ring,
    kid: key.kid,
    state: STATES[key.state],
    createdAt: timestampFromDate(key.createdAt),
    signsFrom: timestampFromDate(key.signsFrom),
    ...(key.removeAt !== null && { removedAt: timestampFromDate(key.removeAt) }),
  };
}
