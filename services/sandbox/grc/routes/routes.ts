import { createRouter, type Route } from "../../router.js";
import { KINDS } from "../kinds/all.js";
import { uploadTo } from "../kinds/evidence-file.js";
import type { Body } from "../kinds/field.js";
import { type Kind, View } from "../kinds/kind.js";
import { BROKEN, detail, NO_SUCH_PATH, ok, type Reply } from "../replies.js";
import type { User, World } from "../world.js";
import { currentUserOf } from "./current-user.js";
import { listOf } from "./listing.js";
import { searchAll } from "./search.js";
import { changeOne, createOne, deleteOne, find, isReply } from "./writing.js";

/** A request of a user who is signed in. */
export interface Request {
  readonly method: string;
  /** With /api/ before it and its final slash. */
  readonly path: string;
  readonly query: URLSearchParams;
  readonly contentType: string;
  readonly body: string;
  /** The body as it came. */
  readonly bytes: Uint8Array;
  /** The header content-disposition; "" for none. */
  readonly disposition: string;
}

type Answer = (request: Request, view: View, ids: readonly string[]) => Reply;

const BUILD = {
  version: "v3.9.0",
  build: "sandbox",
  infrastructure: "Docker",
  diskSpace: "200.0 GB",
  diskUsed: "20.0 GB",
};

const findRoute = createRouter<Answer>([
  ...reading("/api/iam/current-user/", (_, { world, user }) => ok(currentUserOf(world, user))),
  ...reading("/api/build/", () => ok(BUILD)),
  ...reading("/api/search/", ({ query }, view) => searchAll(query, KINDS, view)),
  ...[...KINDS.values()].flatMap(routesOf),
  ...["evidences", "evidence-revisions"].map(
    (path): Route<Answer> => ({
      method: "POST",
      path: `/api/${path}/{id}/upload/`,
      answer: ({ bytes, disposition }, view, [id = ""]) => uploadTo(id, disposition, bytes, view),
    }),
  ),
]);

/** Answers everything below /api/ that needs a user. */
export function answer(request: Request, world: World, user: User): Reply {
  const { method, path } = request;
  if (method === "OPTIONS") return BROKEN;
  const found = findRoute(method, path);
  if (found === "no path") return NO_SUCH_PATH;
  if (found === "no method") return detail(405, `Method "${method}" not allowed.`);
  return found.answer(request, new View(world, user, KINDS), found.ids);
}

/** What every kind answers: its list, its objects, and what it does besides. */
function routesOf(kind: Kind): Route<Answer>[] {
  const path = `/api/${kind.path}/`;
  const one = `${path}{id}/`;
  const create = kind.create ?? ((body, view) => createOne(kind, body, view));
  const routes: Route<Answer>[] = [
    ...reading(path, ({ query }, view) => listOf(kind, query, view)),
    ...reading(one, (_, view, [id = ""]) => {
      const row = find(kind, id, view);
      return isReply(row) ? row : ok(kind.read(row, view));
    }),
    // Also where nobody may: what cannot be deleted is refused as what one may not delete.
    { method: "DELETE", path: one, answer: (_, view, [id = ""]) => deleteOne(kind, id, view) },
  ];
  if (kind.verbs.includes("POST")) {
    routes.push({ method: "POST", path, answer: (request, view) => withBody(request, (body) => create(body, view)) });
  }
  if (kind.verbs.includes("PATCH")) {
    const change: Answer = (request, view, [id = ""]) => withBody(request, (body) => changeOne(kind, id, body, view));
    routes.push({ method: "PATCH", path: one, answer: change });
  }
  for (const [name, act] of Object.entries(kind.actions ?? {})) {
    routes.push({ method: "GET", path: `${one}${name}/`, answer: (_, view, [id = ""]) => act(id, view) });
  }
  return routes;
}

function reading(path: string, answer: Answer): Route<Answer>[] {
  return [
    { method: "GET", path, answer },
    { method: "HEAD", path, answer },
  ];
}

function withBody({ contentType, body }: Request, answer: (body: Body) => Reply): Reply {
  if (!contentType.startsWith("application/json")) {
    return detail(415, `Unsupported media type "${contentType}" in request.`);
  }
  let given: Body;
  try {
    given = JSON.parse(body) as Body;
  } catch (error) {
    return detail(400, `JSON parse error - ${(error as Error).message}`);
  }
  return answer(given);
}
