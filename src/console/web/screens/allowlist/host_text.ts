/**
 * The host in what someone pasted: a whole URL is shortened to its host, and its port unless that is 443. Letters of other
 * scripts may look like Latin ones, so such a host is shown in its `xn--` form.
 */
export function hostIn(text: string): string {
  const trimmed = text.trim()
  if (!/^[a-z][a-z0-9+.-]*:\/\/|\/|[^!-~]/i.test(trimmed)) return trimmed
  const url = URL.parse(trimmed.includes('://') ? trimmed : `https://${trimmed}`)
  return url?.host ? url.host : trimmed
}
