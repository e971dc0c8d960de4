/** `cloakroom secrets reconnect`: the flow again, with the client, endpoints and scope that the root has. */
import { redraft } from '../../../client/connect/known_root.ts'
import { command } from '../../command.ts'
import { flowOptions } from '../../connecting/connect_options.ts'
import { demandAllowRole } from '../../connecting/root_hosts.ts'
import { providerFetchOf, runFlow, throwNotConnected } from '../../connecting/run_flow.ts'
import { type NewRoot, storeRoot } from '../../connecting/store_root.ts'
import { yes } from '../../options.ts'
import { readProvenSecret } from '../../policies/change.ts'
import { projectScope } from '../../scope.ts'
import { CliError } from '../../terminal/cli_error.ts'

export default command({
  usage: 'reconnect <key>',
  examples: ['secrets reconnect GOOGLE_TOKEN', 'secrets reconnect GOOGLE_TOKEN --device'],
  options: [...flowOptions, yes],
  action: async (context, [key], options) => {
    const scope = await projectScope(context)
    if (options.allow) demandAllowRole(scope)
    const { value, policy, version } = await readProvenSecret(scope, key)
    if (policy?.kind !== 'oauth2') {
      const hint = `Replace its fields with: cloakroom connect ${key} --kind ${policy?.kind ?? 'oauth2'}`
      throw new CliError('usage', `${key} was not connected with a browser.`, hint)
    }
    const send = providerFetchOf(context)
    const reconnect = async () =>
      runFlow(context, await redraft(key, value, options, send), options, send)
    const root = await reconnect().catch(throwNotConnected)
    const stored = { key, value: root, policy: policy as NewRoot['policy'] }
    await storeRoot(context, scope, { ...stored, expectedVersion: version }, options)
  },
})
