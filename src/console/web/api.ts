/** Calls of the page itself, for what is only listed and needs no key: by the same contracts, with the session's cookie. */
import { openApi } from '../../client/api.ts'

export const api = openApi(location.origin)
