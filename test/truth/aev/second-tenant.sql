-- What a tenant made by the platform itself has, and one made by SQL (without a licence) lacks: domains, injectors and
-- their contracts. Changes nothing where it was run before.
\set first '''2cffad3a-0001-4078-b0e2-ef74274022c3'''
\set second '''2cffad3a-0002-4078-b0e2-ef74274022c3'''
begin;
insert into domains (domain_id, domain_name, domain_color, tenant_id)
select gen_random_uuid(), domain_name, domain_color, :second from domains where tenant_id = :first
on conflict do nothing;

create temporary table made as
select i.*, md5(i.injector_id || :second)::uuid::text as new_id from injectors i
where tenant_id = :first and injector_type like 'openaev\_%';
update made set injector_id = new_id, tenant_id = :second;
alter table made drop column new_id;
insert into injectors select * from made on conflict do nothing;

create temporary table contracts as
select * from injectors_contracts where tenant_id = :first and injector_contract_payload is null;
update contracts set tenant_id = :second;
insert into injectors_contracts select * from contracts on conflict do nothing;

insert into injectors_injector_contracts (injector_id, injector_contract_id, tenant_id)
select md5(l.injector_id || :second)::uuid::text, l.injector_contract_id, :second
from injectors_injector_contracts l join contracts using (injector_contract_id)
where l.tenant_id = :first
on conflict do nothing;

insert into injectors_contracts_domains (injector_contract_id, domain_id, tenant_id)
select c.injector_contract_id, d2.domain_id, :second
from injectors_contracts_domains c
join domains d1 on d1.domain_id = c.domain_id
join domains d2 on d2.domain_name = d1.domain_name and d2.tenant_id = :second
join contracts using (injector_contract_id)
where c.tenant_id = :first
on conflict do nothing;
commit;
