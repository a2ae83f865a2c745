import { randomUUID } from "node:crypto";
import { complianceAssessments, perimeters } from "../kinds/assessments.js";
import { assets } from "../kinds/assets.js";
import { appliedControls, referenceControls } from "../kinds/controls.js";
import { addVersion, evidenceRevisions, evidences } from "../kinds/evidence.js";
import { type Resource, View } from "../kinds/kind.js";
import {
  actors,
  folders,
  frameworks,
  requirementNodes,
  riskMatrices,
  securityAdvisories,
  threats,
  treeOf,
} from "../kinds/library.js";
import { requirementAssessments } from "../kinds/requirements.js";
import { operationalScenarios, riskAssessments, riskScenarios, studies } from "../kinds/risks.js";
import { BROKEN, detail, NO_SUCH_PATH, ok, type Reply, refused } from "../replies.js";
import { may, permissionsOf } from "../rights.js";
import type { User, World } from "../world.js";
import { listOf } from "./listing.js";
import { searchAll } from "./search.js";
import { type Body, changeOne, createOne, deleteOne, find, isReply, timestamp } from "./writing.js";

const RESOURCES: ReadonlyMap<string, Resource> = new Map(
  [
    actors,
    appliedControls,
    assets,
    complianceAssessments,
    evidenceRevisions,
    evidences,
    folders,
    frameworks,
    operationalScenarios,
    perimeters,
    referenceControls,
    requirementAssessments,
    requirementNodes,
    riskAssessments,
    riskMatrices,
    riskScenarios,
    securityAdvisories,
    studies,
    threats,
  ].map((resource) => [resource.path, resource]),
);

/** A request of a user who is signed in. */
export interface Request {
  readonly verb: string;
  /** Without /api/ before it and with its final slash. */
  readonly path: string;
  readonly query: URLSearchParams;
  readonly contentType: string;
  /** Reads the body as JSON. @throws SyntaxError */
  readonly body: () => Body;
}

/** Answers everything below /api/ that needs a user. */
export function route(request: Request, world: World, user: User): Reply {
  const view = new View(world, user, RESOURCES);
  const { verb, path, query } = request;
  if (verb === "OPTIONS") return BROKEN;
  if (path === "iam/current-user/") return ok(currentUserOf(world, user));
  if (path === "build/") return ok({ version: "v3.9.0", build: "sandbox" });
  if (path === "search/") return searchAll(query, RESOURCES, view);
  const segments = path.split("/").slice(0, -1);
  const nested = segments[0] === "ebios-rm" ? 2 : 1;
  const resource = RESOURCES.get(segments.slice(0, nested).join("/"));
  const [id, action] = segments.slice(nested);
  if (resource === undefined) return NO_SUCH_PATH;
  if (action !== undefined) return actionOf(resource, id!, action, verb, view);
  return id === undefined ? collection(resource, request, view) : member(resource, id, request, view);
}

function collection(resource: Resource, request: Request, view: View): Reply {
  if (request.verb === "GET" || request.verb === "HEAD") return listOf(resource, request.query, view);
  if (request.verb !== "POST") return detail(405, `Method "${request.verb}" not allowed.`);
  return withBody(request, (body) => {
    if (resource === evidenceRevisions) return createVersion(body, view);
    if (!resource.verbs.includes("POST")) return detail(405, 'Method "POST" not allowed.');
    return createOne(resource, body, view);
  });
}

function member(resource: Resource, id: string, request: Request, view: View): Reply {
  switch (request.verb) {
    case "GET":
    case "HEAD": {
      const found = find(resource, id, view);
      return isReply(found) ? found : ok(resource.read(found, view));
    }
    case "PATCH":
      if (!resource.verbs.includes("PATCH")) break;
      return withBody(request, (body) => changeOne(resource, id, body, view));
    case "DELETE":
      return deleteOne(resource, id, view);
  }
  return detail(405, `Method "${request.verb}" not allowed.`);
}

function actionOf(resource: Resource, id: string, action: string, verb: string, view: View): Reply {
  if (verb !== "GET" || resource !== frameworks || action !== "tree") return NO_SUCH_PATH;
  const framework = view.world.get(frameworks.path, id);
  return framework === undefined ? BROKEN : ok(treeOf(framework, view));
}

function withBody(request: Request, answer: (body: Body) => Reply): Reply {
  if (!request.contentType.startsWith("application/json")) {
    return detail(415, `Unsupported media type "${request.contentType}" in request.`);
  }
  try {
    return answer(request.body());
  } catch (error) {
    if (error instanceof SyntaxError) return detail(400, `JSON parse error - ${error.message}`);
    throw error;
  }
}

/** Adds a version to evidence, which goes to review. */
function createVersion(body: Body, view: View): Reply {
  const { world, user } = view;
  const evidence = world.get("evidences", body.evidence);
  if (evidence === undefined) return refused({ evidence: ["This field is required."] });
  evidence.status = "in_review";
  evidence.updated_at = timestamp();
  const folder = typeof body.folder === "string" ? body.folder : world.rootId;
  if (!may(world, user, "add_evidencerevision", folder)) {
    return refused({ folder: "You do not have permission to add objects in this folder" }, 403);
  }
  const fields = { link: body.link ?? null, observation: body.observation ?? null };
  return ok(evidenceRevisions.written(addVersion(evidence, fields, world, randomUUID(), timestamp())), 201);
}

function currentUserOf(world: World, user: User) {
  const domain_permissions = permissionsOf(world, user);
  const roles = [...new Set(user.grants.map(({ role }) => role))];
  return {
    id: user.id,
    actor_id: user.actorId,
    all_actor_ids: [user.actorId],
    email: user.email,
    first_name: user.firstName,
    last_name: user.lastName,
    is_active: user.active,
    date_joined: user.joinedAt,
    user_groups: roles.map(({ group }) => [group, true]),
    roles: roles.map(({ code }) => code),
    is_third_party: false,
    is_auditee: false,
    is_admin: roles.some(({ code }) => code === "BI-RL-ADM"),
    is_local: true,
    is_sso: false,
    accessible_domains: Object.keys(domain_permissions).filter((id) => id !== world.rootId),
    domain_permissions,
    root_folder_id: world.rootId,
    preferences: { lang: "en" },
    has_mfa_enabled: false,
    is_superuser: false,
  };
}
