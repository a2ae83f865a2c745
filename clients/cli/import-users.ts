import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { ConnectError } from "@connectrpc/connect";
import { ApiKeyService } from "#proto/auth/v1/api_key_service_pb.js";
import { GroupService } from "#proto/auth/v1/group_service_pb.js";
import { type User, UserService } from "#proto/auth/v1/user_service_pb.js";
import { clientOf } from "./client.js";
import { pages } from "./pages.js";
import type { Session } from "./session.js";
import { type Row, readUserList, refuse } from "./user-list.js";

/** What became of a row. */
export interface Imported {
  readonly line: number;
  readonly email: string;
  /** Users that exist keep their name and rights. */
  readonly result: "created" | "created without a key" | "exists" | "added to groups" | "refused";
  readonly reason?: string;
  /** Shown only here. */
  readonly api_key?: string;
}

/**
 * Creates the users of a list, and adds those that exist to their groups. The
 * whole list is checked before the first change, so that it can be corrected
 * and given again: what is done already is "exists" then.
 *
 * @param keysForMs the lifetime of an API key for each new user; undefined for no keys.
 */
export async function importUsers(
  session: Session,
  text: string,
  keysForMs: number | undefined,
): Promise<readonly Imported[]> {
  const rows = readUserList(text);
  const groups = await groupsOf(session);
  refuse(
    rows.flatMap(({ line, groups: wanted }) =>
      wanted
        .filter((name) => !groups.has(name.toLowerCase()))
        .map((name) => `line ${line}: there is no group ${JSON.stringify(name)}; create it with \`groups create\``),
    ),
  );
  const known = await usersOf(session);
  const done: Imported[] = [];
  for (const row of rows) {
    const ids = row.groups.map((name) => groups.get(name.toLowerCase()) as string);
    done.push({ line: row.line, email: row.email, ...(await importOne(session, row, ids, known, keysForMs)) });
  }
  return done;
}

async function importOne(
  session: Session,
  { email, name, admin }: Row,
  groups: readonly string[],
  known: ReadonlyMap<string, User>,
  keysForMs: number | undefined,
): Promise<Pick<Imported, "result" | "reason" | "api_key">> {
  const users = clientOf(session, UserService);
  const old = known.get(email.toLowerCase());
  let userId: string;
  try {
    if (old !== undefined) {
      const ids = [...new Set([...old.groups, ...groups])];
      if (ids.length === old.groups.length) return { result: "exists" };
      await users.updateUser({ id: old.id, groups: { ids } });
      return { result: "added to groups" };
    }
    const { user } = await users.createUser({ email, name, admin, groups: [...groups] });
    userId = (user as User).id;
  } catch (error) {
    return { result: "refused", reason: ConnectError.from(error).rawMessage };
  }
  if (keysForMs === undefined) return { result: "created" };
  try {
    const expiresAt = timestampFromDate(new Date(Date.now() + keysForMs));
    const { token } = await clientOf(session, ApiKeyService).createApiKey({ userId, name: "first key", expiresAt });
    return { result: "created", api_key: token };
  } catch (error) {
    const why = ConnectError.from(error).rawMessage;
    return { result: "created without a key", reason: `${why}; create one with \`keys create --user ${email}\`` };
  }
}

/** The ids of groups by their ids, and by their names in lower case. */
async function groupsOf(session: Session): Promise<Map<string, string>> {
  const ids = new Map<string, string>();
  const client = clientOf(session, GroupService);
  for await (const { groups } of pages((pageToken) => client.listGroups({ pageSize: 100, pageToken }))) {
    for (const { id, name } of groups) ids.set(id, id).set(name.toLowerCase(), id);
  }
  return ids;
}

async function usersOf(session: Session): Promise<Map<string, User>> {
  const known = new Map<string, User>();
  const client = clientOf(session, UserService);
  for await (const page of pages((pageToken) => client.listUsers({ pageSize: 100, pageToken }))) {
    for (const user of page.users) if (user.email !== "") known.set(user.email, user);
  }
  return known;
}
