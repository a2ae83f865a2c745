import { readFileSync } from "node:fs";
import { timestampDate } from "@bufbuild/protobuf/wkt";
import { GroupService } from "#proto/auth/v1/group_service_pb.js";
import { type User, UserService } from "#proto/auth/v1/user_service_pb.js";
import { clientOf } from "../client.js";
import type { Verb } from "../command.js";
import { UsageError } from "../failures.js";
import { findGroup } from "../groups.js";
import { type Imported, importUsers } from "../import-users.js";
import { leaving, leftBehindOf } from "../leaving.js";
import { pages } from "../pages.js";
import { personalData } from "../personal-data.js";
import type { Session } from "../session.js";
import { spanOf } from "../span.js";
import { findUser } from "../users.js";

const USER = { name: "USER", doc: "The user's e-mail address or id." };
const PASSWORD = {
  "password-file": { doc: "A file with the user's password, 12 to 128 characters; - reads standard input." },
};
const SWITCHED = ["yes", "no"];

/** Makes, shows, changes and ends users. */
export const users: readonly Verb[] = [
  {
    verb: "create",
    doc: "Create a user.",
    flags: {
      email: { doc: "The user's e-mail address; platforms identify the user by it.", required: true },
      name: { doc: "The name shown to people.", required: true },
      admin: { doc: "Make the user an administrator.", isSwitch: true },
      groups: { doc: "Names or ids of groups, separated by commas." },
      unverified: { doc: "The address is not verified yet: no platform is called for the user.", isSwitch: true },
      ...PASSWORD,
    },
    async run(session, { flags }) {
      const groups = await groupIds(session, flags.groups);
      const { user } = await clientOf(session, UserService).createUser({
        email: flags.email as string,
        name: flags.name as string,
        admin: flags.admin !== undefined,
        groups: groups ?? [],
        ...(flags.unverified !== undefined && { emailVerified: false }),
        ...passwordOf(flags["password-file"]),
      });
      return toJson(user as User);
    },
  },
  {
    verb: "import",
    doc: "Create the users of a CSV file and add those that exist to its groups. Nothing changes if a line is wrong. Columns: email, name, groups (names separated by semicolons), admin (yes or no).",
    args: [{ name: "FILE", doc: "The file; - reads standard input." }],
    flags: {
      keys: {
        doc: "Create an API key for each new user, with this lifetime, such as 90d. The report shows it only once.",
      },
    },
    isUncut: true,
    async run(session, { args, flags }) {
      const keysForMs = flags.keys === undefined ? undefined : spanOf(flags.keys, "--keys");
      return { users: await importUsers(session, textOf(args.FILE as string), keysForMs) };
    },
    hasFailed: (answer) => (answer as { users: readonly Imported[] }).users.some(({ reason }) => reason !== undefined),
  },
  {
    verb: "get",
    doc: "Show a user.",
    args: [USER],
    async run(session, { args }) {
      const user = await findUser(session, args.USER as string);
      const names = user.groups.length === 0 ? new Map<string, string>() : await groupNames(session);
      return { ...toJson(user), group_names: user.groups.map((id) => names.get(id) ?? id) };
    },
  },
  {
    verb: "list",
    doc: "List users and service accounts.",
    flags: { group: { doc: "Only the members of a group, by its name or id." } },
    columns: ["email", "name", "admin", "disabled", "created_at", "id"],
    async run(session, { flags }) {
      const groupId = flags.group === undefined ? "" : (await findGroup(session, flags.group)).id;
      const found: object[] = [];
      const client = clientOf(session, UserService);
      for await (const page of pages((pageToken) => client.listUsers({ pageSize: 100, pageToken, groupId }))) {
        found.push(...page.users.map(toJson));
      }
      return { users: found };
    },
  },
  {
    verb: "update",
    doc: "Change a user. Omitted fields stay as they are. Every process applies the change before this returns.",
    args: [USER],
    flags: {
      name: { doc: "The name shown to people." },
      admin: { doc: "Whether the user is an administrator.", choices: SWITCHED },
      verified: { doc: "Whether the address is verified.", choices: SWITCHED },
      groups: { doc: "Names or ids of groups, separated by commas. They replace the present ones; '' removes all." },
      ...PASSWORD,
    },
    async run(session, { args, flags }) {
      const { id } = await findUser(session, args.USER as string);
      const ids = await groupIds(session, flags.groups);
      const { user } = await clientOf(session, UserService).updateUser({
        id,
        ...(flags.name !== undefined && { name: flags.name }),
        ...(flags.admin !== undefined && { admin: flags.admin === "yes" }),
        ...(flags.verified !== undefined && { emailVerified: flags.verified === "yes" }),
        ...(ids !== undefined && { groups: { ids } }),
        ...passwordOf(flags["password-file"]),
      });
      return toJson(user as User);
    },
  },
  {
    verb: "disable",
    doc: "Disable a user. When this returns, no process accepts the user's keys, and the user's schedules and runs stop.",
    args: [USER],
    run: (session, { args }) => setDisabled(session, args.USER as string, true),
  },
  {
    verb: "enable",
    doc: "Enable a user again, with all keys that are not revoked. Schedules stay paused until the user enables them.",
    args: [USER],
    run: (session, { args }) => setDisabled(session, args.USER as string, false),
  },
  {
    verb: "delete",
    doc: "Delete a user with the user's keys, connections and sessions. When this returns, no process accepts them, and the user's schedules and runs stop.",
    args: [USER],
    async run(session, { args }) {
      const { id, email } = await findUser(session, args.USER as string);
      const { revokedKeys, leftBehind } = await clientOf(session, UserService).deleteUser({ id });
      return { id, email, deleted: true, revoked_keys: revokedKeys, ...leftBehindOf(leftBehind, id) };
    },
  },
  ...leaving,
  ...personalData,
];

async function setDisabled(session: Session, name: string, disabled: boolean): Promise<object> {
  const { id, email } = await findUser(session, name);
  const { user, leftBehind } = await clientOf(session, UserService).updateUser({ id, disabled });
  return { ...toJson(user as User), ...leftBehindOf(leftBehind, email || id) };
}

async function groupIds(session: Session, given: string | undefined): Promise<string[] | undefined> {
  if (given === undefined) return undefined;
  const names = given.split(",").filter((name) => name.trim() !== "");
  return Promise.all(names.map(async (name) => (await findGroup(session, name.trim())).id));
}

async function groupNames(session: Session): Promise<Map<string, string>> {
  const names = new Map<string, string>();
  const client = clientOf(session, GroupService);
  for await (const { groups } of pages((pageToken) => client.listGroups({ pageSize: 100, pageToken }))) {
    for (const { id, name } of groups) names.set(id, name);
  }
  return names;
}

/** A password is no flag's value: those are seen by everybody on the machine. */
function passwordOf(path: string | undefined): { password?: string } {
  if (path === undefined) return {};
  return { password: textOf(path).replace(/\r?\n$/, "") };
}

/** The text of a file, or of standard input. */
function textOf(path: string): string {
  try {
    return readFileSync(path === "-" ? 0 : path, "utf8");
  } catch (error) {
    throw new UsageError(`${path} cannot be read: ${(error as NodeJS.ErrnoException).code}`);
  }
}

function toJson({ id, email, name, admin, disabled, groups, emailVerified, service, createdAt }: User): object {
  return {
    id,
    email,
    name,
    admin,
    disabled,
    groups,
    email_verified: emailVerified,
    service,
    created_at: createdAt && timestampDate(createdAt).toISOString(),
  };
}
