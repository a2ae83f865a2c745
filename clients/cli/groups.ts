import { type Group, GroupService } from "#proto/auth/v1/group_service_pb.js";
import { clientOf } from "./client.js";
import { EXIT, Failure } from "./failures.js";
import { pages } from "./pages.js";
import type { Session } from "./session.js";

/** A group by its id, or by its name in any case. @throws Failure where there is none. */
export async function findGroup(session: Session, wanted: string): Promise<Group> {
  const client = clientOf(session, GroupService);
  const lower = wanted.toLowerCase();
  for await (const { groups } of pages((pageToken) => client.listGroups({ pageSize: 100, pageToken }))) {
    const found = groups.find(({ id, name }) => id === wanted || name.toLowerCase() === lower);
    if (found !== undefined) return found;
  }
  throw new Failure(`there is no group ${JSON.stringify(wanted)}: \`groups list\` lists the groups`, EXIT.notFound);
}
