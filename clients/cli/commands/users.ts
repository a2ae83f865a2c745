import type { User } from "#proto/auth/v1/user_service_pb.js";
import { UserService } from "#proto/auth/v1/user_service_pb.js";
import type { Command } from "../command.js";
import type { Session } from "../session.js";

/** Makes users. */
export const users: readonly Command[] = [
  {
    noun: "users",
    verb: "create",
    doc: "Create a user.",
    positionals: [],
    flags: {
      email: { doc: "The user's e-mail address, by which platforms know the user.", required: true },
      name: { doc: "The name shown to people.", required: true },
      admin: { doc: "Make the user an administrator.", isSwitch: true },
    },
    async run(session, { flags }) {
      const { user } = await session.client(UserService).createUser({
        email: flags.email as string,
        name: flags.name as string,
        admin: flags.admin !== undefined,
      });
      return toJson(user as User);
    },
  },
  {
    noun: "users",
    verb: "disable",
    doc: "Disable a user: when this returns, none of the user's keys is served.",
    positionals: ["EMAIL"],
    flags: {},
    run: (session, { args }) => setDisabled(session, args.EMAIL as string, true),
  },
  {
    noun: "users",
    verb: "enable",
    doc: "Enable a user again, with the keys that were not revoked.",
    positionals: ["EMAIL"],
    flags: {},
    run: (session, { args }) => setDisabled(session, args.EMAIL as string, false),
  },
  {
    noun: "users",
    verb: "list",
    doc: "List every user.",
    positionals: [],
    flags: {},
    async run(session) {
      const found: object[] = [];
      let pageToken = "";
      do {
        const page = await session.client(UserService).listUsers({ pageSize: 100, pageToken });
        found.push(...page.users.map(toJson));
        pageToken = page.nextPageToken;
      } while (pageToken !== "");
      return { users: found };
    },
  },
];

async function setDisabled(session: Session, email: string, disabled: boolean): Promise<object> {
  const client = session.client(UserService);
  const { user } = await client.getUser({ email });
  return toJson((await client.updateUser({ id: (user as User).id, disabled })).user as User);
}

function toJson({ id, email, name, admin, disabled, groups }: User): object {
  return { id, email, name, admin, disabled, groups };
}
