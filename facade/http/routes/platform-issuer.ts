import { type GetPlatformIssuerResponse, PlatformTokenService } from "#proto/auth/v1/platform_token_service_pb.js";
import type { Dispatch } from "../../../services/shared/rpc/dispatch.js";
import type { HeaderList } from "../exchange.js";
import { jsonPage, type Page, type Route } from "../route.js";

const PUBLIC: HeaderList = ["content-type", "application/json", "cache-control", "public, max-age=300"];
const TIMEOUT_MS = 5_000;

/**
 * What platforms read to trust the tokens that this service signs for its
 * users: the key set, the issuer, and the discovery document of platforms that
 * take the token by OpenID Connect. All three are of the platform key ring.
 *
 * @param base the path of the public base URL, without a trailing slash.
 */
export function platformIssuerRoutes(dispatch: Dispatch, base: string): Route[] {
  const published = (pageOf: (issuer: GetPlatformIssuerResponse) => Page) => async (): Promise<Page> => {
    try {
      return pageOf(
        await dispatch.unary(
          PlatformTokenService.method.getPlatformIssuer,
          {},
          { credential: {}, deadline: Date.now() + TIMEOUT_MS },
        ),
      );
    } catch {
      return jsonPage(503, {
        error: "unavailable",
        message: "The service cannot read its keys at the moment: try again in a few seconds.",
      });
    }
  };
  const route = (path: string, pageOf: (issuer: GetPlatformIssuerResponse) => Page): Route => ({
    path: `${base}${path}`,
    methods: ["GET"],
    handle: published(pageOf),
  });
  return [
    route("/xtm/auth/jwks", ({ jwks }) => ({ status: 200, headers: PUBLIC, body: jwks })),
    route("/xtm/auth/metadata", ({ issuer }) => jsonPage(200, { issuer }, PUBLIC)),
    route("/xtm/.well-known/openid-configuration", ({ issuer }) =>
      jsonPage(
        200,
        {
          issuer,
          jwks_uri: `${issuer}/xtm/auth/jwks`,
          // Required members of the document (OpenID Connect Discovery 1.0 section 3); nobody signs in here by them.
          authorization_endpoint: `${issuer}/authorize`,
          token_endpoint: `${issuer}/token`,
          response_types_supported: ["id_token"],
          subject_types_supported: ["public"],
          id_token_signing_alg_values_supported: ["EdDSA"],
        },
        PUBLIC,
      ),
    ),
  ];
}
