import { timestampDate } from "@bufbuild/protobuf/wkt";
import { type Group, GroupService } from "#proto/auth/v1/group_service_pb.js";
import { clientOf } from "../client.js";
import type { Argument, Verb } from "../command.js";
import { findGroup } from "../groups.js";
import { pages } from "../pages.js";
import type { Session } from "../session.js";
import { findUser } from "../users.js";

const GROUP: Argument = { name: "GROUP", doc: "The group's name or id." };
const USERS: Argument = { name: "USER", doc: "E-mail addresses or ids of users.", isMany: true };

/** Makes, shows, changes and ends groups, and says who is in them. */
export const groups: readonly Verb[] = [
  {
    verb: "create",
    doc: "Create a group.",
    flags: { name: { doc: "The name shown to people.", required: true } },
    async run(session, { flags }) {
      const { group } = await clientOf(session, GroupService).createGroup({ name: flags.name as string });
      return toJson(group as Group);
    },
  },
  {
    verb: "list",
    doc: "List the groups.",
    columns: ["name", "members", "created_at", "id"],
    async run(session) {
      const found: object[] = [];
      const client = clientOf(session, GroupService);
      for await (const page of pages((pageToken) => client.listGroups({ pageSize: 100, pageToken }))) {
        found.push(...page.groups.map(toJson));
      }
      return { groups: found };
    },
  },
  {
    verb: "rename",
    doc: "Rename a group.",
    args: [GROUP],
    flags: { name: { doc: "The new name.", required: true } },
    async run(session, { args, flags }) {
      const { id } = await findGroup(session, args.GROUP as string);
      const { group } = await clientOf(session, GroupService).updateGroup({ id, name: flags.name as string });
      return toJson(group as Group);
    },
  },
  {
    verb: "add",
    doc: "Add users to a group. Every process applies it before this returns.",
    args: [GROUP, USERS],
    run: (session, { args }) => change(session, args, "addUserIds"),
  },
  {
    verb: "remove",
    doc: "Remove users from a group. Every process applies it before this returns.",
    args: [GROUP, USERS],
    run: (session, { args }) => change(session, args, "removeUserIds"),
  },
  {
    verb: "delete",
    doc: "Delete a group. Its members lose access to objects shared with it. Every process applies it before this returns.",
    args: [GROUP],
    async run(session, { args }) {
      const { id, name } = await findGroup(session, args.GROUP as string);
      await clientOf(session, GroupService).deleteGroup({ id });
      return { id, name, deleted: true };
    },
  },
];

async function change(
  session: Session,
  args: Readonly<Record<string, string>>,
  how: "addUserIds" | "removeUserIds",
): Promise<object> {
  const { id } = await findGroup(session, args.GROUP as string);
  const named = (args.USER as string).split(" ");
  const ids = await Promise.all(named.map(async (name) => (await findUser(session, name)).id));
  return toJson((await clientOf(session, GroupService).updateGroup({ id, [how]: ids })).group as Group);
}

function toJson({ id, name, memberCount, createdAt }: Group): object {
  return { id, name, members: memberCount, created_at: createdAt && timestampDate(createdAt).toISOString() };
}
