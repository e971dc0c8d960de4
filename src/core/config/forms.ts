/** The forms that values of several variables have. */
import { z } from 'zod'

/** Digits only: `0x50` and `1e3` are numbers to JavaScript, and mistakes to a person. */
export const number = (what: string, min: number, max: number) =>
  z
    .string()
    .trim()
    .refine(
      (text) => /^\d{1,9}$/.test(text) && Number(text) >= min && Number(text) <= max,
      `must be ${what} from ${min} to ${max}`,
    )
    .transform(Number)
export const port = number('a port number', 0, 65_535)
export const list = z
  .string()
  .transform((text) => text.split(',').flatMap((part) => part.trim() || []))
export const key = (check: (text: string) => unknown, complaint: string) =>
  z.string().refine((text) => succeeds(() => check(text)), complaint)

/** As hostCheck compares them: `*`, a name, `.name` for its subdomains too, or an IPv6 address in brackets. */
export const HOST_NAME = /^(?:\*|\.?[a-z0-9_-]+(?:\.[a-z0-9_-]+)*|\[[0-9a-f:.]+\])$/i

export function succeeds(action: () => unknown): boolean {
  try {
    action()
    return true
  } catch {
    return false
  }
}
