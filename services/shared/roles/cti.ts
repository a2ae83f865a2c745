import type { RoleWords } from "./words.js";

/** OpenCTI: its capabilities are the same in every release; an id contains those that it implies. */
export const CTI_ROLE: RoleWords = {
  release: "OpenCTI 7.260817",
  rights: {
    KNOWLEDGE: { label: "Access knowledge", under: [] },
    KNOWLEDGE_KNUPDATE: {
      label: "Create / Update knowledge",
      under: ["Access knowledge"],
      implies: ["KNOWLEDGE"],
    },
    KNOWLEDGE_KNUPDATE_KNDELETE: {
      label: "Delete knowledge",
      under: ["Access knowledge", "Create / Update knowledge"],
      implies: ["KNOWLEDGE_KNUPDATE", "KNOWLEDGE"],
    },
    KNOWLEDGE_KNUPDATE_KNMERGE: {
      label: "Merge knowledge",
      under: ["Access knowledge", "Create / Update knowledge"],
      implies: ["KNOWLEDGE_KNUPDATE", "KNOWLEDGE"],
    },
  },
  meets: {},
  always: [],
  builtIn: [{ name: "Default", has: (right) => right === "KNOWLEDGE" }],
  steps: [
    "Under **Settings**, **Security**, open **Roles** and choose **Create Role**. Give the role a name and choose **Create**.",
    "Open the role, choose **Update**, then the tab **Capabilities**. Tick the boxes of the role. OpenCTI ticks the boxes above them in the tree and locks them.",
    "There, open **Groups**, and open or create a group. In **Update a group**, tick the role on the tab **Roles** and add people on the tab **Members**.",
    "On the tab **Markings**, tick what the group may see under **Allowed marking definitions**. On the tab **Confidences**, set **Max Confidence Level** if the role writes.",
  ],
  notes: [
    "People see objects only if all markings of the object are among the allowed markings of their groups.",
    "A write is refused if the confidence of the object is above the maximum of the caller.",
    "No capability for API access is needed: the service signs in as the person.",
  ],
};
