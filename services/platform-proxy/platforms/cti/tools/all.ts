import type { Binding } from "../../../binding.js";
import { reportBindings } from "../reports.js";
import { accountBindings } from "./account-service.js";
import { annotationBindings } from "./annotation-service.js";
import { containerBindings } from "./container-service.js";
import { entityBindings } from "./entity-service.js";
import { insightBindings } from "./insight-service.js";
import { observableBindings } from "./observable-service.js";
import { relationshipBindings } from "./relationship-service.js";
import { searchBindings } from "./search-service.js";

/** How every tool of the cti server is answered. */
export const ctiBindings: readonly Binding[] = [
  ...accountBindings,
  ...annotationBindings,
  ...containerBindings,
  ...entityBindings,
  ...insightBindings,
  ...observableBindings,
  ...relationshipBindings,
  ...reportBindings,
  ...searchBindings,
];
