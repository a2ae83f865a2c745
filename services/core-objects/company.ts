/** Who owns what is company-managed, where what is stored is counted: it counts together, as that of one user does. */
export const COMPANY = "company";
