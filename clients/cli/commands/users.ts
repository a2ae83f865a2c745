import type { User } from "#proto/auth/v1/user_service_pb.js";
import { UserService } from "#proto/auth/v1/user_service_pb.js";
import type { Command } from "../command.js";

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

function toJson({ id, email, name, admin, disabled, groups }: User): object {
  return { id, email, name, admin, disabled, groups };
}
