import { GLOBAL } from '../../src/store/keys.ts'
import type { FilledForm } from './account-forms.ts'
import type { Service } from './service.ts'
import type { RequestOptions } from './visitor.ts'

/** What is sent instead of a genuine form. @param foreignToken the form token of another person */
type Attack = (form: FilledForm, foreignToken: string) => { path?: string; fields?: Record<string, string>; options?: RequestOptions }
const withoutFormToken = ({ form_token: _removed, ...fields }: Record<string, string>) => fields
/** An old browser, which sends neither Origin nor Sec-Fetch-Site. */
export const oldBrowser = { headers: { origin: null, 'sec-fetch-site': null } }
/** name → attack */
export const attacks: Record<string, Attack> = {
  'from another site, by Sec-Fetch-Site': () => ({ options: { headers: { 'sec-fetch-site': 'cross-site', origin: null } } }),
  'from a sibling site': () => ({ options: { headers: { 'sec-fetch-site': 'same-site' } } }),
  'from an unknown site, by Sec-Fetch-Site': () => ({ options: { headers: { 'sec-fetch-site': 'none' } } }),
  'from another origin, by Origin': () => ({
    options: { headers: { origin: 'https://evil.example', 'sec-fetch-site': null } },
  }),
  'from another port': () => ({ options: { headers: { origin: 'http://localhost:8080', 'sec-fetch-site': null } } }),
  'from another scheme': () => ({ options: { headers: { origin: 'https://localhost', 'sec-fetch-site': null } } }),
  'from the origin null': () => ({ options: { headers: { origin: 'null', 'sec-fetch-site': null } } }),
  'from an origin with the same beginning': () => ({
    options: { headers: { origin: 'http://localhost.evil.example', 'sec-fetch-site': null } },
  }),
  'without a form token': ({ fields }) => ({ fields: withoutFormToken(fields) }),
  'without a form token, from an old browser': ({ fields }) => ({ fields: withoutFormToken(fields), options: oldBrowser }),
  'with an empty form token': ({ fields }) => ({ fields: { ...fields, form_token: '' }, options: oldBrowser }),
  "with another person's form token": ({ fields }, foreignToken) => ({
    fields: { ...fields, form_token: foreignToken },
    options: oldBrowser,
  }),
  'with the form token in the URL': ({ path, fields }) => ({
    path: `${path}?form_token=${fields['form_token']}`,
    fields: withoutFormToken(fields),
    options: oldBrowser,
  }),
  'as text/plain, which a form of another site can send': ({ fields }) => ({
    options: { headers: { ...oldBrowser.headers, 'content-type': 'text/plain' }, body: String(new URLSearchParams(fields)) },
  }),
}

/** Returns everything that is stored for all workspaces and for one of them, for comparison. */
export async function readStore(service: Service, workspaceId: string): Promise<string> {
  await service.app.services.usage.settled()
  const all: string[] = []
  for (const partition of [GLOBAL, workspaceId])
    for await (const batch of service.store.dump(partition)) all.push(...batch.map((record) => JSON.stringify(record)))
  return all.toSorted().join('\n')
}
