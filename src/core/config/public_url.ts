import { z } from 'zod'

/** The address of a listener as clients reach it, perhaps with a path; kept without the last slash. */
export const publicUrl = z
  .string()
  .trim()
  .refine(isPublicUrl, 'must be an http or https address without credentials, query or fragment')
  .transform((text) => text.replace(/\/+$/, ''))
  .optional()

function isPublicUrl(text: string): boolean {
  const url = URL.parse(text)
  if (!url || !/^https?:$/.test(url.protocol)) return false
  return !url.username && !url.password && !/[?#]/.test(text)
}
