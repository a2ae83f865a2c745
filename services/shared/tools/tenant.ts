/** The argument that says which tenant a call is for, on every server whose tools have it; ?tenant= fills it in. */
export const TENANT_ARGUMENT = "tenant_id";

/** The member by which a result names its tenant to a caller who has several. */
export const TENANT_MEMBER = "tenant";
