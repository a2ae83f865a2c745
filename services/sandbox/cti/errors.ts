import { GraphQLError } from "graphql";

/** A refusal, in the API's own shape: `extensions.code`, `extensions.data` and the code repeated as `name`. */
export class ApiError extends GraphQLError {
  constructor(
    message: string,
    code: string,
    readonly data?: Readonly<Record<string, unknown>>,
    /** The whole request is refused: the answer has no path and no data. */
    readonly whole = false,
  ) {
    super(message, { extensions: { code, ...(data !== undefined && { data }) } });
  }
}

type Data = Readonly<Record<string, unknown>>;

/** AUTH_REQUIRED: nobody is signed in. */
export const authRequired = () =>
  new ApiError("You must be logged in to do this.", "AUTH_REQUIRED", { http_status: 401, genre: "TECHNICAL" });
/** FORBIDDEN_ACCESS: a capability is missing. */
export const forbidden = () =>
  new ApiError("You are not allowed to do this.", "FORBIDDEN_ACCESS", { http_status: 403, genre: "TECHNICAL" });
/** FUNCTIONAL_ERROR: a rule of the platform is broken. */
export const functional = (message: string, data: Data = {}) =>
  new ApiError(message, "FUNCTIONAL_ERROR", { http_status: 400, genre: "BUSINESS", ...data });
/** VALIDATION_ERROR of one field. */
export const validation = (message: string, field: string) =>
  new ApiError(message, "VALIDATION_ERROR", { http_status: 500, genre: "BUSINESS", field });
/** UNSUPPORTED_ERROR: what the platform does not offer. */
export const unsupported = (message: string, data: Data = {}) =>
  new ApiError(message, "UNSUPPORTED_ERROR", { http_status: 500, genre: "BUSINESS", ...data });
/** MISSING_REFERENCE_ERROR: a reference is unknown, or hidden from the caller. */
export const missingReference = (data: Data) =>
  new ApiError("Element(s) not found", "MISSING_REFERENCE_ERROR", {
    http_status: 404,
    genre: "BUSINESS",
    ...data,
    doc_code: "ELEMENT_NOT_FOUND",
  });
/** DATABASE_ERROR: the platform's search engine refused. */
export const database = (message: string) =>
  new ApiError(message, "DATABASE_ERROR", { http_status: 500, genre: "TECHNICAL" });
/** An accident the API does not foresee; it answers with its own text. */
export const accident = (message: string) => new ApiError(message, "INTERNAL_SERVER_ERROR");
/** BAD_USER_INPUT; `whole` refuses the whole request. */
export const badInput = (message: string, whole = false) => new ApiError(message, "BAD_USER_INPUT", undefined, whole);
/** The caller's confidence is too low to change an element. */
export const lowConfidence = (userId: string, elementId: string) =>
  functional("User effective max confidence level is insufficient to update this element", {
    user_id: userId,
    element_id: elementId,
    doc_code: "INSUFFICIENT_CONFIDENCE_LEVEL",
  });
/** An element that an action needs is not there for the caller. */
export const notFound = (action: string, what: string, id: string) =>
  functional(`Cannot ${action}, ${what} cannot be found.`, { id });
