import { CaseService } from "#proto/cti/v1/case_service_pb.js";
import { Order } from "#proto/cti/v1/knowledge_pb.js";
import { dateOf } from "../../../../shared/dates.js";
import { failedPrecondition, invalidArgument, notFound } from "../../../../shared/rpc/errors.js";
import { type Binding, unary } from "../../../binding.js";
import { takingTurns } from "../../../lib/taking-turns.js";
import type { Platform } from "../../../platform.js";
import { containerOf, containerRowOf, containersPage, GET_CONTAINER, untypedRowOf } from "../container-rows.js";
import { COUNTED } from "../contents.js";
import { operation } from "../graphql.js";
import { CORE, markingsOf as markingNamesOf, summaryOf } from "../knowledge.js";
import { labelIdsOf, markingsOf } from "../names.js";
import { createdOf, type NewContainer, newContainerOf } from "../new-containers.js";
import { type Filter, objectOf, type TargetNode } from "../resolve.js";
import { checkedName, textOf } from "../text.js";
import { type Category, checkVocabulary, madeOf, noticesOfNew } from "../writes.js";

const { listCases, getCase, listTasks, createCaseIncident, createCaseRfi, createCaseRft, createTask } =
  CaseService.method;

const CREATE_INCIDENT = operation(
  `
  mutation CreateCase($input: CaseIncidentAddInput!) {
    made: caseIncidentAdd(input: $input) {
      ...Core
      ...Counted
      confidence
    }
  }
`,
  [CORE, COUNTED],
);

/** What creates a case, by its type: inputs and answers of all types are alike. */
export const CREATE_CASE: ReadonlyMap<string, typeof CREATE_INCIDENT> = new Map(
  ["Case-Incident", "Case-Rfi", "Case-Rft"].map((type) => {
    const name = type.slice("Case-".length);
    return [type, { ...CREATE_INCIDENT, text: CREATE_INCIDENT.text.replaceAll("Incident", name) }];
  }),
);

/** Adds a task. */
export const CREATE_TASK = operation(
  `
  mutation CreateTask($input: TaskAddInput!) {
    taskAdd(input: $input) {
      ...Core
    }
  }
`,
  [CORE],
);

const CASES: readonly string[] = [...CREATE_CASE.keys()];
const MOST_TASKS = 50;

/** How the tools of this service are answered. */
export const bindings: readonly Binding[] = [
  unary(listCases, async (request, platform) => {
    const wrong = request.types.find((type) => !CASES.includes(type));
    if (wrong !== undefined) throw invalidArgument(`types: ${wrong} is not one of ${CASES.join(", ")}`);
    const words = [
      ["severity", request.severity, "case_severity_ov"],
      ["priority", request.priority, "case_priority_ov"],
    ] as const;
    const own = words.flatMap(([key, word]): Filter[] => (word === undefined ? [] : [{ key: [key], values: [word] }]));
    const types = request.types.length === 0 ? CASES : request.types;
    const { nodes, paging } = await containersPage(platform, request, types, own);
    for (const [key, word, category] of paging.totalSize === 0 ? words : [])
      if (word !== undefined) await checkVocabulary(platform, category, [word], key);
    return { cases: nodes.map(containerRowOf), ...paging };
  }),
  unary(getCase, async ({ caseId }, platform) => {
    const { container } = await platform.graphql(GET_CONTAINER, { id: caseId });
    if (container === null) throw notFound(`case_id: no case with the id ${caseId} exists or is visible to you`);
    checkCase(container);
    const asked = { query: "", order: Order.NEWEST, pageSize: MOST_TASKS, pageToken: "" };
    const { nodes, paging } = await tasksOf(platform, asked, container.id);
    return { container: containerOf(container), tasks: nodes.map(untypedRowOf), taskCount: paging.totalSize };
  }),
  unary(listTasks, async (request, platform) => {
    const { caseId } = request;
    const id = caseId === undefined ? undefined : (await caseOf(platform, caseId)).id;
    const { nodes, paging } = await tasksOf(platform, request, id);
    return { tasks: nodes.map(untypedRowOf), ...paging };
  }),
  unary(createCaseIncident, ({ responseTypes, ...request }, platform) =>
    createCase(platform, "Case-Incident", request, ["response_types", responseTypes, "incident_response_types_ov"]),
  ),
  unary(createCaseRfi, ({ informationTypes, ...request }, platform) =>
    createCase(platform, "Case-Rfi", request, [
      "information_types",
      informationTypes,
      "request_for_information_types_ov",
    ]),
  ),
  unary(createCaseRft, ({ takedownTypes, ...request }, platform) =>
    createCase(platform, "Case-Rft", request, ["takedown_types", takedownTypes, "request_for_takedown_types_ov"]),
  ),
  unary(createTask, async ({ caseId, name: given, description, dueDate, labels }, platform) => {
    const name = checkedName(given);
    const parent = await caseOf(platform, caseId);
    const objectLabel = await labelIdsOf(platform, labels, "labels");
    // Tasks are read by whoever is signed in at the platform, so that one without the markings of its case would tell of it.
    const markings = await markingsOf(platform, markingNamesOf(parent), "case_id");
    const input = {
      name,
      objects: [parent.id],
      ...textOf("description", description),
      ...(dueDate !== undefined && { due_date: dateOf(dueDate).toISOString() }),
      ...(objectLabel.length > 0 && { objectLabel }),
      ...(markings.length > 0 && { objectMarking: markings.map(({ id }) => id) }),
    };
    const { taskAdd } = await takingTurns(platform, "Task", [name], () => platform.graphql(CREATE_TASK, { input }));
    const made = madeOf(taskAdd);
    return { result: { object: summaryOf(made), notices: noticesOfNew({ name }, made) } };
  }),
];

interface NewCase extends NewContainer {
  readonly severity: string;
  readonly priority: string;
}

async function createCase(
  platform: Platform,
  type: string,
  request: NewCase,
  [key, given, category]: readonly [key: string, given: readonly string[], category: Category],
) {
  const wordOf = async (name: "severity" | "priority", of: Category) =>
    request[name] === "" ? {} : { [name]: (await checkVocabulary(platform, of, [request[name]], name))[0] };
  const words = {
    ...(await wordOf("severity", "case_severity_ov")),
    ...(await wordOf("priority", "case_priority_ov")),
  };
  const types = await checkVocabulary(platform, category, given, key);
  return takingTurns(platform, type, [request.name], async () => {
    const prepared = await newContainerOf(platform, type, request);
    const input = { ...prepared.input, ...words, ...(types.length > 0 && { [key]: types }) };
    const { made } = await platform.graphql(CREATE_CASE.get(type) ?? CREATE_INCIDENT, { input });
    return createdOf(request, prepared, made);
  });
}

const tasksOf = (platform: Platform, request: Parameters<typeof containersPage>[1], caseId: string | undefined) =>
  containersPage(platform, request, ["Task"], caseId === undefined ? [] : [{ key: ["objects"], values: [caseId] }]);

async function caseOf(platform: Platform, id: string): Promise<TargetNode> {
  const target = await objectOf(platform, id, "case_id");
  checkCase(target);
  return target;
}

function checkCase({ parent_types, entity_type }: Pick<TargetNode, "parent_types" | "entity_type">): void {
  if (!parent_types.includes("Case"))
    throw failedPrecondition(`case_id: an object of type ${entity_type} is not a case; use list_cases to find one`);
}
