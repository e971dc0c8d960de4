import { useAsk } from '../queries.ts'
import { hasPasskeys } from './authenticator.ts'

/** Whether the server and this browser support passkeys at this address. Undefined until it is known. */
export function usePasskeysHere(): boolean | undefined {
  const { data: instance } = useAsk('accounts.instance', null)
  return hasPasskeys() ? instance?.passkey_origins.includes(location.origin) : false
}
