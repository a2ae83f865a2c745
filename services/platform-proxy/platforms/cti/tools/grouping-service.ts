import { GroupingService } from "#proto/cti/v1/grouping_service_pb.js";
import { type Binding, unary } from "../../../binding.js";
import { takingTurns } from "../../../lib/taking-turns.js";
import { containersPage, untypedRowOf } from "../container-rows.js";
import { COUNTED } from "../contents.js";
import { operation } from "../graphql.js";
import { CORE } from "../knowledge.js";
import { createdOf, newContainerOf } from "../new-containers.js";
import { checkVocabulary } from "../writes.js";

const { listGroupings, createGrouping } = GroupingService.method;

/** Creates a grouping. */
export const CREATE_GROUPING = operation(
  `
  mutation CreateGrouping($input: GroupingAddInput!) {
    groupingAdd(input: $input) {
      ...Core
      ...Counted
      confidence
    }
  }
`,
  [CORE, COUNTED],
);

/** How the tools of this service are answered. */
export const bindings: readonly Binding[] = [
  unary(listGroupings, async (request, platform) => {
    const { context } = request;
    const own = context === undefined ? [] : [{ key: ["context"], values: [context] }];
    const { nodes, paging } = await containersPage(platform, request, ["Grouping"], own);
    if (context !== undefined && paging.totalSize === 0)
      await checkVocabulary(platform, "grouping_context_ov", [context], "context");
    return { groupings: nodes.map(untypedRowOf), ...paging };
  }),
  unary(createGrouping, async (request, platform) => {
    const [context = ""] = await checkVocabulary(platform, "grouping_context_ov", [request.context], "context");
    return takingTurns(platform, "Grouping", [request.name], async () => {
      const made = await newContainerOf(platform, "Grouping", request);
      const { groupingAdd } = await platform.graphql(CREATE_GROUPING, { input: { ...made.input, context } });
      return createdOf(request, made, groupingAdd);
    });
  }),
];
