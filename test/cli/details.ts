/** The last line of an error that the server explains in its documentation. */
import { helpCommandFor } from '../../src/cli/help/topics.ts'
import type { FaultCode } from '../../src/core/fault.ts'
import { faultDocs } from '../../src/http/advice.ts'

export const detailsOf = (code: FaultCode) => `→ details: ${helpCommandFor(faultDocs[code])}\n`
