import { type Timestamp, timestampDate } from "@bufbuild/protobuf/wkt";
import { KeyRingService, type SigningKey, SigningKeyState } from "#proto/auth/v1/key_ring_service_pb.js";
import { clientOf } from "../client.js";
import type { Argument, Verb } from "../command.js";
import { offline } from "../offline.js";

const RING: Argument = {
  name: "RING",
  doc: "assertion: calls between our services. platform: tokens for platforms. access: OAuth access tokens.",
  choices: ["access", "assertion", "platform"],
};

/** Shows, rotates and ends the keys that sign for the service. */
export const signingKeys: readonly Verb[] = [
  {
    verb: "list",
    doc: "List the published signing keys of all rings, newest first.",
    isUncut: true,
    async run(session) {
      const { keys } = await clientOf(session, KeyRingService).listSigningKeys({});
      return { keys: keys.map(toJson) };
    },
  },
  {
    verb: "rotate",
    doc: "Publish a new key for a ring. It signs after the ring's lead; the old key is removed some time later.",
    args: [RING],
    async run(session, { args }) {
      const { key, previous } = await clientOf(session, KeyRingService).rotateKeyRing({ ring: args.RING as string });
      return {
        ring: args.RING,
        new_kid: key?.kid,
        signs_from: timeOf(key?.signsFrom),
        old_kid: previous?.kid,
        old_removed_at: timeOf(previous?.removedAt),
      };
    },
  },
  {
    verb: "revoke",
    doc: "Revoke a compromised signing key. When this returns, no process of the service accepts what it signed.",
    args: [RING, { name: "KID", doc: "The key's id, as list shows it. If it starts with -, put -- before RING." }],
    async run(session, { args }) {
      const [ring, kid] = [args.RING as string, args.KID as string];
      const { signing, consequences } = await clientOf(session, KeyRingService).revokeSigningKey({ ring, kid });
      return { ring, kid, revoked: true, signing_kid: signing?.kid, next: consequences };
    },
  },
  {
    verb: "reset",
    doc: "Remove all signing keys from the store of a stopped service, if the key that encrypts them is lost. The next start makes new ones.",
    async run(session) {
      const { removedKeys } = offline(["reset-signing-keys"], session.dataDir) as { removedKeys: number };
      return {
        removed_keys: removedKeys,
        next: "start the service: it makes new signing keys; restart the platforms after that",
      };
    },
  },
];

function toJson({ ring, kid, state, createdAt, signsFrom, removedAt }: SigningKey): object {
  return {
    ring,
    kid,
    state: SigningKeyState[state]?.toLowerCase(),
    created_at: timeOf(createdAt),
    signs_from: timeOf(signsFrom),
    removed_at: timeOf(removedAt),
  };
}

function timeOf(at: Timestamp | undefined): string | undefined {
  return at && timestampDate(at).toISOString();
}
