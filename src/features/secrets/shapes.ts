/** Shared by the contracts of secrets. */
import { z } from 'zod'
import { examplePolicy } from '../../core/policy/policy.ts'
import { base64 } from '../../core/validation/validate.ts'
import {
  environment as environmentName,
  exampleOfForm,
  projectId,
  rarelyNeeded,
  signedText,
} from '../../http/fields.ts'

export const MAX_ENTRIES = 500
/** Refused fields that a reply lists. */
export const MAX_FIELDS = 100
/** Decoded. A value of 64 KiB fits in every known form of sealing. */
export const MAX_SEALED_BYTES = 98_304

/** A client's ciphertext. The server reads only its epoch, if it has one. */
export const sealedValue = base64(MAX_SEALED_BYTES, 1).meta({
  examples: [exampleOfForm.sealedValue],
})

/** A policy as it is stored: the ciphertext says whether it is its author's (protocol 3.3). */
export const storedPolicy = z.unknown().meta({
  description: 'unchanged, as sent by the client; null without a policy',
  examples: [examplePolicy],
})

export const inProject = z.object({ project_id: projectId })
export const environment = environmentName.default('development')
/** In signed workspaces, each write has a manifest of the resulting environment (protocol 12.2). */
export const manifest = signedText.meta(rarelyNeeded).optional()

/** The body of a write with only a manifest. */
export const manifestOnly = z.strictObject({ manifest }).meta({ id: 'ManifestOnly' })
