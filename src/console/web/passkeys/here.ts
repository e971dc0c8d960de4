import { useAsk } from '../queries.ts'
import { hasPasskeys } from './authenticator.ts'

/** Whether passkeys are used at this address, by what the server and this browser have; undefined until it is known. */
export function usePasskeysHere(): boolean | undefined {
  const { data: instance } = useAsk('accounts.instance', null)
  return hasPasskeys() ? instance?.passkey_origins.includes(location.origin) : false
}
