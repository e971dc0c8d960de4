/** `cloakroom secrets reconnect`: the flow again, with the client, endpoints and scope that the root has. */
import { registerClient } from '../../../client/connect/client_registration.ts'
import { command } from '../../command.ts'
import { flowOptions } from '../../connecting/connect_options.ts'
import type { OAuth2Fields } from '../../connecting/known_root.ts'
import { findEndpoints } from '../../connecting/known_root.ts'
import { demandAllowRole } from '../../connecting/root_hosts.ts'
import { providerFetchOf, runFlow, throwNotConnected } from '../../connecting/run_flow.ts'
import { type NewRoot, storeRoot } from '../../connecting/store_root.ts'
import { yes } from '../../options.ts'
import { provenSecret } from '../../policies/change.ts'
import { projectScope } from '../../scope.ts'
import { CliError } from '../../terminal/cli_error.ts'

export default command({
  usage: 'reconnect <key>',
  examples: ['secrets reconnect GOOGLE_TOKEN', 'secrets reconnect GOOGLE_TOKEN --device'],
  options: [...flowOptions, yes],
  action: async (context, [key], options) => {
    const scope = await projectScope(context)
    if (options.allow) demandAllowRole(scope)
    const { value, policy, version } = await provenSecret(scope, key)
    if (policy?.kind !== 'oauth2') {
      const hint = `Replace its fields with: cloakroom connect ${key} --kind ${policy?.kind ?? 'oauth2'}`
      throw new CliError('usage', `${key} was not connected with a browser.`, hint)
    }
    const { refresh_token: _, scope: asked, ...fields } = JSON.parse(value) as OAuth2Fields
    const { token_url: __, resource: ___, audience, parameters, ...client } = fields
    const send = providerFetchOf(context)
    const reconnect = async () => {
      const { endpoints, authorizeParameters } = await findEndpoints(fields, options, send)
      const { server } = endpoints
      // Its registered redirect address has the path of an earlier flow.
      const isRegistered = endpoints.resource !== undefined && server.registration_endpoint
      const clientFor = async (redirectUri: string) =>
        isRegistered && options.redirectUri === undefined && !options.device
          ? registerClient(server, { redirectUri, scope: asked }, send)
          : client
      const rootFields = { audience, parameters }
      const draft = {
        name: key,
        endpoints,
        scope: asked,
        authorizeParameters,
        rootFields,
        clientFor,
      }
      return runFlow(context, draft, options, send)
    }
    const root = await reconnect().catch(throwNotConnected)
    const stored = { key, value: root, policy: policy as NewRoot['policy'] }
    await storeRoot(context, scope, { ...stored, expectedVersion: version }, options)
  },
})
