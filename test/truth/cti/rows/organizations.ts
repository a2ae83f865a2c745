import type { Truth } from "../../frame/table.js";
import type { Stage } from "../stage.js";
import { WRITERS } from "../world.js";
import { type Args, refused } from "./changed.js";

const author = ({ world }: Stage) => world.ids.author!;

/** What would change an organization, and who has the platform's right to it. */
const CHANGES: readonly (readonly [tool: string, args: Args, as: readonly string[]])[] = [
  ["update_entity", (stage) => ({ object_id: author(stage), description: "changed" }), WRITERS],
  ["delete_entity", (stage) => ({ object_id: author(stage) }), ["administrator", "analyst"]],
  [
    "merge_entities",
    (stage) => ({ target_id: author(stage), source_ids: [author(stage)] }),
    ["administrator", "analyst"],
  ],
  ["add_labels", (stage) => ({ object_id: author(stage), labels: [`label ${stage.world.run}`] }), WRITERS],
  ["remove_labels", (stage) => ({ object_id: author(stage), labels: [`label ${stage.world.run}`] }), WRITERS],
  ["add_markings", (stage) => ({ object_id: author(stage), markings: ["TLP:GREEN"] }), WRITERS],
  ["remove_markings", (stage) => ({ object_id: author(stage), markings: ["TLP:GREEN"] }), WRITERS],
  [
    "add_external_reference",
    (stage) => ({ object_id: author(stage), source_name: "source", url: `https://source.example/${stage.world.run}` }),
    WRITERS,
  ],
  [
    "remove_external_reference",
    (stage) => ({ object_id: author(stage), external_reference_id: stage.world.ids.reference }),
    WRITERS,
  ],
];

/** Organizations are read, and no tool changes one. */
export const organizationTruths: readonly Truth<Stage>[] = CHANGES.map(([tool, args, as]) => ({
  tool,
  cases: [refused("an organization stays as it is", tool, args, /only read organizations/, as)],
}));
