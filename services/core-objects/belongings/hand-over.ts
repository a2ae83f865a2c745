import type { MessageInitShape, MessageShape } from "@bufbuild/protobuf";
import { Code, ConnectError } from "@connectrpc/connect";
import {
  type HandedOverSchema,
  type HandOverRequestSchema,
  type HandOverResponseSchema,
  HandOverOutcome as Outcome,
} from "#proto/core/v1/belongings_service_pb.js";
import type { Call } from "../../shared/rpc/call.js";
import type { Context } from "../context.js";
import { passDocuments } from "../knowledge/pass-documents.js";
import { ATTEMPTS, newEtag } from "../objects/gate.js";
import type { Passing } from "../objects/leaving.js";
import { tellReach } from "../objects/reach.js";
import { sealedWith } from "../objects/secrets.js";
import { accessOf } from "../policy.js";
import type { ObjectRecord } from "../record.js";
import { takenBy } from "../room.js";
import { auditEach } from "./audit-each.js";
import { checkPeople } from "./people.js";
import { type Chosen, checkAll, checkSelection, choose, passingOf } from "./plan.js";
import { wordOf } from "./sections.js";

type Row = MessageInitShape<typeof HandedOverSchema>;
type Became = Pick<Row, "outcome" | "notes" | "reason">;

/** Gives objects of a person who can no longer sign in to one who can. All of them are checked before the first changes. */
export async function handOver(
  context: Context,
  request: MessageShape<typeof HandOverRequestSchema>,
  call: Call,
): Promise<MessageInitShape<typeof HandOverResponseSchema>> {
  checkSelection(request);
  await checkPeople(context.people, request.userId, request.toUserId, call);
  const { chosen, nextPageToken } = await choose(context, request);
  const passing = passingOf(context, request);
  const notes = await checkAll(context, chosen, passing);
  const row = ({ kind, id, name }: Chosen, became: Became): Row => ({ kind: wordOf(kind), id, name, ...became });
  if (request.dryRun) {
    const objects = chosen.map((one) =>
      row(one, one.isTheirs ? ALREADY : { outcome: Outcome.PLANNED, notes: [...(notes.get(one.id) ?? [])] }),
    );
    return { objects, nextPageToken };
  }
  const ended = await auditEach(context, chosen, passing, call);
  const objects: Row[] = [];
  try {
    for (const one of chosen) objects.push(row(one, await passed(context, one, passing)));
  } finally {
    await ended(objects);
  }
  return { objects, nextPageToken };
}

const ALREADY: Became = { outcome: Outcome.ALREADY_OWNED };

/** Hands one object over, or says why not: the others go on. */
async function passed(context: Context, one: Chosen, passing: Passing): Promise<Became> {
  try {
    return await passOne(context, one, passing);
  } catch (error) {
    const { code, rawMessage } = ConnectError.from(error);
    if (code !== Code.ResourceExhausted) throw error;
    return notChanged(rawMessage);
  }
}

async function passOne(context: Context, { kind, id }: Chosen, passing: Passing): Promise<Became> {
  const { from, to } = passing;
  const objects = context.collection<ObjectRecord>(kind.noun);
  const { leaving } = kind;
  for (let attempt = 1; attempt <= ATTEMPTS; attempt++) {
    const current = await objects.findOne({ _id: id });
    if (current === null) return notChanged("it was deleted during the call");
    if (current.owner === to) return { ...ALREADY, notes: await documentsPassed(context, { kind, id }, passing) };
    if (current.owner !== from) return notChanged("it got another owner during the call");
    const { changes, notes } = (await leaving.passed?.(current, passing)) ?? { changes: {}, notes: [] };
    const taken = takenBy(current);
    const next = { ...changes, ...owned(current, passing), etag: newEtag(), updated_at: new Date(), taken };
    const sealed = sealedWith(kind, context.seal, { ...current, ...next }, current.sealed_with);
    await context.room.pass(to, { objects: 1, bytes: taken });
    const { matchedCount } = await objects.updateOne(
      { _id: id, etag: current.etag, owner: from, origin: "user" },
      { $set: { ...next, ...sealed }, $unset: { deleting: "" } },
    );
    if (matchedCount === 0) {
      await context.room.pass(to, { objects: -1, bytes: -taken });
      continue;
    }
    await tellReach(context, kind.noun, current, { ...current, ...next });
    await context.room.pass(from, { objects: -1, bytes: -taken });
    const more = await documentsPassed(context, { kind, id }, passing);
    return { outcome: Outcome.HANDED_OVER, notes: [...notes, ...more] };
  }
  return notChanged("others change it at the same time: repeat the call");
}

/** Gives the new owner the documents of an object that is theirs. @returns what is left to do. */
async function documentsPassed(
  context: Context,
  { kind, id }: Pick<Chosen, "kind" | "id">,
  passing: Passing,
): Promise<string[]> {
  try {
    if (kind.leaving.hasDocuments) await passDocuments(context, id, passing);
    return [];
  } catch (error) {
    const { code, rawMessage } = ConnectError.from(error);
    if (code !== Code.ResourceExhausted) throw error;
    return [`its documents still count for the person who left: ${rawMessage}. Then hand it over again by its id`];
  }
}

/** Whose it is from then on. Grants stay, but for those to one of both; its creation is nobody's to repeat. */
function owned({ _id, origin, acl }: ObjectRecord, { from, to }: Passing): Partial<ObjectRecord> {
  const others = acl.filter(({ p }) => p !== `u:${to}` && p !== `u:${from}`);
  return { owner: to, acl: others, access: accessOf({ origin, owner: to, acl: others }), request: _id };
}

function notChanged(reason: string): Became {
  return { outcome: Outcome.NOT_CHANGED, reason };
}
