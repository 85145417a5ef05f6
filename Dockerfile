# docker build -t vbrand .    then: docker run --rm -v "$PWD:/data" vbrand discover known.csv new.csv --label class -o found
FROM python:3.12-slim
COPY pyproject.toml README.md LICENSE /package/
COPY src /package/src
RUN pip install --no-cache-dir '/package[cli,report,plot,tables,excel]' && useradd --uid 1000 --create-home vbrand
USER 1000
# compiles what the first use would, so that containers start at once
RUN vbrand demo -o /tmp/demo && rm -r /tmp/demo
WORKDIR /data
ENTRYPOINT ["vbrand"]
CMD ["--help"]
