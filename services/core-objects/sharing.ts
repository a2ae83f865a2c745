import type { MessageInitShape, MessageShape } from "@bufbuild/protobuf";
import { type GrantSchema, Origin as OriginWord, type Tier as TierWord } from "#proto/core/v1/sharing_pb.js";
import type { Caller } from "../shared/rpc/call.js";
import { invalidArgument } from "../shared/rpc/errors.js";
import { quotedAll } from "../shared/rpc/quoted.js";
import { accessOf, type Grant, may, type Origin, type Ownership, type Tier } from "./policy.js";
import type { Principals } from "./principals.js";

/** What a caller asks to share or to share no longer. */
export interface SharingChange {
  readonly share: readonly MessageShape<typeof GrantSchema>[];
  readonly unshare: readonly string[];
}

/** A change of sharing with ids in place of names. */
export interface ResolvedChange extends SharingChange {
  /** Whom nobody knows of those to unshare with; a grant to who is gone can be taken back by its id. */
  readonly unknown: readonly string[];
}

/** What a request asks to share, with ids in place of the names in it. */
export async function sharingIn({ share, unshare }: SharingChange, principals: Principals): Promise<ResolvedChange> {
  const { ids, unknown } = await principals.ofNames(unshare);
  return { share: await principals.of(share), unshare: ids, unknown };
}

/**
 * The acl and the locks after a change of sharing; nothing where nothing changes.
 *
 * @throws ConnectError invalid_argument that names whom nobody knows and no grant names.
 */
export function sharingAfter(
  current: Ownership,
  { share, unshare, unknown }: ResolvedChange,
): { acl?: readonly Grant[]; access?: readonly string[] } {
  if (share.length === 0 && unshare.length === 0 && unknown.length === 0) return {};
  checkShareable(current.origin);
  const granted = new Set(current.acl.map(({ p }) => p));
  const nobody = unknown.filter((name) => !granted.has(principalOf(name)));
  if (nobody.length > 0)
    throw invalidArgument(
      `unknown user or group, and not in sharing: ${quotedAll(nobody)}. Name users and groups as sharing shows them`,
    );
  const gone = new Set([...unshare, ...unknown].map(principalOf));
  const acl = aclOf(share, current.acl).filter(({ p }) => !gone.has(p));
  if (acl.length > MAX_GRANTS)
    throw invalidArgument(`an object can be shared with at most ${MAX_GRANTS} users and groups: use groups`);
  return { acl, access: accessOf({ ...current, acl }) };
}

/** @throws ConnectError invalid_argument for an origin whose objects have no sharing of their own. */
export function checkShareable(origin: Origin): void {
  if (origin === "company")
    throw invalidArgument("company-managed objects are already shared with everyone and cannot be shared otherwise");
}

/** The acl that grants make, over the one there is; the last word on a principal counts. */
export function aclOf(grants: readonly MessageShape<typeof GrantSchema>[], before: readonly Grant[] = []): Grant[] {
  const acl = new Map(before.map((grant) => [grant.p, grant]));
  for (const { to, tier } of grants) acl.set(principalOf(to), { p: principalOf(to), t: tier as Tier });
  return [...acl.values()];
}

/** The grants that a caller is shown: all to who can manage the object, none to others. */
export function grantsFor(caller: Caller, object: Ownership): MessageInitShape<typeof GrantSchema>[] {
  if (!may(caller, "share", object)) return [];
  return object.acl.map(({ p, t }) => ({ to: nameOf(p), tier: t as TierWord }));
}

/** The word of the API for an origin. */
export function originWordOf(origin: Origin): OriginWord {
  return { builtin: OriginWord.BUILTIN, company: OriginWord.COMPANY, user: OriginWord.USER }[origin];
}

/** The origin that a word of the API means; undefined where none is given. */
export function originOf(word: OriginWord): Origin | undefined {
  if (word === OriginWord.UNSPECIFIED) return undefined;
  return ({ [OriginWord.BUILTIN]: "builtin", [OriginWord.COMPANY]: "company", [OriginWord.USER]: "user" } as const)[
    word
  ];
}

const MAX_GRANTS = 200;

function principalOf(to: string): string {
  return to === "everyone" ? "all" : to.replace(/^user:/, "u:").replace(/^group:/, "g:");
}

/** A principal of an acl as the API names it. */
export function nameOf(principal: string): string {
  return principal === "all" ? "everyone" : principal.replace(/^u:/, "user:").replace(/^g:/, "group:");
}
