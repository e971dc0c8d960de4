/** Names a browser by its user agent. Browsers also name others, so the most specific comes first. */
const BROWSERS = [
  ['Edge', /\bEdg(?:A|iOS)?\//],
  ['Opera', /\bOPR\//],
  ['Firefox', /\b(?:Firefox|FxiOS)\//],
  ['Chrome', /\b(?:Chrome|HeadlessChrome|CriOS)\//],
  ['Safari', /\bSafari\//],
] as const
const SYSTEMS = [
  ['Android', /\bAndroid\b/],
  ['iOS', /\b(?:iPhone|iPad)\b/],
  ['Windows', /\bWindows\b/],
  ['macOS', /\bMac(?:intosh| OS X)\b/],
  ['Linux', /\bLinux\b/],
] as const

type Known = readonly (readonly [name: string, pattern: RegExp])[]

/** Null for a program that is not one of these browsers. */
export function browserOf(userAgent: string): { browser: string; system: string | null } | null {
  const browser = nameIn(BROWSERS, userAgent)
  return browser === null ? null : { browser, system: nameIn(SYSTEMS, userAgent) }
}

function nameIn(known: Known, text: string): string | null {
  return known.find(([, pattern]) => pattern.test(text))?.[0] ?? null
}
