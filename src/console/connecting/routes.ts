/** Routes of the local console for its page. */
import { ConnectFault } from '../../client/connect/provider_fetch.ts'
import { piecesOf } from '../../core/async/streams.ts'
import { readUtf8 } from '../../core/crypto/encoding.ts'
import { Fault } from '../../core/fault.ts'
import { parsePart } from '../../core/validation/validate.ts'
import { readCapped } from '../../http/capped_body.ts'
import { CONNECTION_BODY_LIMIT, startConnection } from './contract.ts'
import type { LocalConnections } from './local_connections.ts'

const PATH = /^\/local\/connections\/(?:([\w-]{43})\/)?$/

export async function answerConnection(
  request: Request,
  connections: LocalConnections,
): Promise<Response> {
  const found = PATH.exec(new URL(request.url).pathname)
  if (found === null) return new Response(null, { status: 404 })
  const answer = handlerOf(request, found[1], connections)
  if (answer === undefined) return new Response(null, { status: 405 })
  try {
    return success(await answer())
  } catch (error) {
    return refusalOf(error)
  }
}

function handlerOf(
  request: Request,
  id: string | undefined,
  connections: LocalConnections,
): (() => unknown) | undefined {
  const { method } = request
  if (id === undefined) {
    return method === 'POST' ? async () => connections.start(await orderOf(request)) : undefined
  }
  const handlers: Record<string, () => unknown> = {
    GET: () => connections.read(id),
    DELETE: () => {
      connections.end(id)
      return {}
    },
  }
  return handlers[method]
}

async function orderOf(request: Request) {
  const buildTooLargeFault = () => new Fault('payload_too_large')
  const bytes = await readCapped(piecesOf(request.body), CONNECTION_BODY_LIMIT, buildTooLargeFault)
  return parsePart(startConnection.body, jsonOf(bytes))
}

/** @throws Fault `malformed_json` */
function jsonOf(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(readUtf8(bytes))
  } catch (cause) {
    throw new Fault('malformed_json', { cause })
  }
}

const headers = { 'cache-control': 'no-store', 'x-content-type-options': 'nosniff' }

function success(data: unknown): Response {
  if (data !== null) return Response.json({ status: 'success', data }, { headers })
  return refusal(404, 'connect_ended', 'This connection has ended.')
}

function refusalOf(error: unknown): Response {
  if (error instanceof ConnectFault) {
    return refusal(409, `connect_${error.code}`, error.message)
  }
  if (error instanceof Fault) {
    const { status, code, message, fields } = error
    return refusal(status, code, message, fields)
  }
  return refusal(500, 'internal', 'The local console failed.')
}

export function refusal(
  status: number,
  error_code: string,
  message: string,
  fields?: Fault['fields'],
): Response {
  return Response.json({ status: 'error', error_code, message, fields }, { status, headers })
}
