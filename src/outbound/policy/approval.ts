/**
 * A call that uses held secrets (protocol 14.2): steps 6 to 8 run without their values, so that members never review a
 * call that would be refused anyway.
 */
import { Unread } from '../../core/async/unread.ts'
import type { BodyAccount } from '../../core/body_memory.ts'
import { Fault } from '../../core/fault.ts'
import { isHeld } from '../../core/policy/policy.ts'
import { bytesOf, type Call } from '../call.ts'
import type { ApprovalUse, CallPermission, UsableSecret } from './permission.ts'

/** Bytes of a body that a member can approve. */
const MAX_BODY = 1_048_576
const NO_BYTES = new Uint8Array()

export function usesHeld(secrets: ReadonlyMap<string, UsableSecret>): boolean {
  return [...secrets.values()].some(({ policy }) => isHeld(policy))
}

type Approvable = { call: Call; bodies?: BodyAccount | undefined }

/**
 * @throws Unread while the body is not whole, UnreadBefore while a member decides
 * @throws Fault `approval_required`, `approval_denied`, `payload_too_large`
 */
export function requireApproval(
  job: Approvable,
  permission: CallPermission,
  { asked, secrets }: Pick<ApprovalUse, 'asked' | 'secrets'>,
): void {
  const { call } = job
  if (!permission.approve) throw new Fault('approval_required')
  const isMessages = call.answer === 'socket' || call.answer === 'grpc'
  if (!isMessages && call.body !== null && 'stream' in call.body) throw new Unread(readWhole(job))
  const body = isMessages ? null : (bytesOf(call.body) ?? NO_BYTES)
  if ((body?.length ?? 0) > MAX_BODY) throw buildTooLargeFault()
  permission.approve({ call, asked, secrets, body })
}

/** Buffers a body that would otherwise be streamed. */
async function readWhole(job: Approvable): Promise<void> {
  const { body } = job.call
  if (body === null || 'bytes' in body) return
  if ((body.length ?? 0) > MAX_BODY) throw buildTooLargeFault()
  const meter = job.bodies?.expect(body.length)
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of body.stream) {
    size += chunk.length
    if (size > MAX_BODY) throw buildTooLargeFault()
    meter?.read(chunk.length)
    chunks.push(chunk)
  }
  job.call = { ...job.call, body: { bytes: new Uint8Array(Buffer.concat(chunks)) } }
}

function buildTooLargeFault(): Fault {
  return new Fault('payload_too_large', {
    message: 'The body of a request that needs approval can have at most 1 MiB.',
  })
}

/** Refuses a signature with a held secret: it depends on the request, so a member could not review the sent text. */
export function buildSignedWithHeldFault(): Fault {
  return new Fault('policy_blocked', {
    message:
      'A call with a secret that needs approval cannot be signed. Send it without a signature.',
  })
}
